-- doc = """Per device, how busy it was over the whole run and in steady state (the steps that are not warm-up, without
-- what lies between them)."""
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
-- idle_ns = "window without busy; NULL where no time stamps tell"
-- sum_ns = "sum of durations in it: what overlaps counts twice"
-- overlap_pct = "time in which more than one thing ran, counted as often as it was, of the sum"
WITH device AS (
    SELECT rank, device, max(end_ns) - min(start_ns) AS window_ns, sum(alone_ns) AS busy_ns, sum(dur_ns) AS sum_ns,
        sum(step_alone_ns) AS step_busy_ns, sum(step_dur_ns) AS step_sum_ns
    FROM busy GROUP BY rank, device
), frame AS (
    SELECT rank, device, 0 AS position, 'whole run' AS "window", NULL AS steps, window_ns, busy_ns, sum_ns FROM device
    UNION ALL
    SELECT d.rank, d.device, 1, 'steady state', c.n_steps, c.total_ns, d.step_busy_ns, d.step_sum_ns
    FROM device d JOIN scope c ON c.rank = d.rank AND c.has_steps
)
SELECT rank, device, position, "window", steps, window_ns, CAST(busy_ns AS BIGINT) AS busy_ns,
    100.0 * busy_ns / nullif(window_ns, 0) AS busy_pct,
    CAST(if(is_unstamped, NULL, window_ns - busy_ns) AS BIGINT) AS idle_ns,
    CAST(sum_ns AS BIGINT) AS sum_ns, 100.0 * (sum_ns - busy_ns) / nullif(sum_ns, 0) AS overlap_pct
FROM frame JOIN scope USING (rank)
