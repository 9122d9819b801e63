-- title = "windows"
-- doc = """Per device, how busy it was over the whole run and in steady state (from the first to the last step that is
-- no warm-up)."""
-- materialize = true
-- [columns]
-- position = "0 for the whole run, 1 for steady state"
-- rank = "process of the job"
-- device = "device"
-- window = "whole run or steady state"
-- steps = "steps in the window"
-- window_ns = "length of the window"
-- busy_ns = "union of everything the device did in it"
-- busy_pct = "of the window"
-- idle_ns = "window without busy"
-- sum_ns = "sum of durations in it: what overlaps counts twice"
-- overlap_pct = "time in which more than one thing ran, counted as often as it was, of the sum"
WITH every AS MATERIALIZED (
    SELECT rank, device, start_ns, end_ns, end_ns - alone_ns AS alone_from_ns, alone_ns FROM busy
), frame AS (
    SELECT rank, device, 'whole run' AS name, min(start_ns) AS from_ns, max(end_ns) AS until_ns, NULL AS steps,
        0 AS position
    FROM every GROUP BY rank, device
    UNION ALL
    SELECT d.rank, d.device, 'steady state', min(s.start_ns), max(s.end_ns), count(*), 1
    FROM (SELECT DISTINCT rank, device FROM every) d JOIN step_times s ON s.rank = d.rank AND NOT s.is_warmup
    GROUP BY d.rank, d.device
), inside AS (
    SELECT f.rank, f.device, f.position,
        sum(greatest(least(e.end_ns, f.until_ns) - greatest(e.alone_from_ns, f.from_ns), 0)) FILTER (e.alone_ns > 0)
            AS busy_ns,
        sum(greatest(least(e.end_ns, f.until_ns) - greatest(e.start_ns, f.from_ns), 0)) AS sum_ns
    FROM frame f JOIN every e ON e.rank = f.rank AND e.device = f.device
    GROUP BY f.rank, f.device, f.position
)
SELECT rank, device, position, name AS "window", steps, until_ns - from_ns AS window_ns,
    CAST(busy_ns AS BIGINT) AS busy_ns,
    100.0 * busy_ns / nullif(until_ns - from_ns, 0) AS busy_pct,
    CAST(until_ns - from_ns - busy_ns AS BIGINT) AS idle_ns,
    CAST(sum_ns AS BIGINT) AS sum_ns, 100.0 * (sum_ns - busy_ns) / nullif(sum_ns, 0) AS overlap_pct
FROM frame JOIN inside USING (rank, device, position)
