-- title = "Memory by kind over the step of the peak"
-- doc = """Bytes of each kind of data when most was allocated, in each of at most 160 parts of the step of the peak
-- (without steps, of the recording), on the device with the highest peak."""
-- cannot = "No allocations of a framework were recorded."
-- [chart]
-- kind = "areas"
-- x = "at_ns"
-- y = "size_bytes"
-- area = "kind"
-- mark = "is_peak"
-- [columns]
-- rank = "process of the job"
-- device = "device number; empty for the host"
-- at_ns = "time, since the capture's origin"
-- kind = "kind of data"
-- size_bytes = "bytes of it"
-- is_peak = "whether this is the moment of the peak"
WITH top AS (
    FROM memory_peaks ORDER BY peak_bytes DESC, rank, device NULLS FIRST LIMIT 1
), event AS (
    SELECT e.* FROM memory_events e JOIN top t ON t.rank = e.rank AND t.device IS NOT DISTINCT FROM e.device
), shown AS (
    SELECT coalesce(any_value(s.start_ns), min(e.at_ns)) AS from_ns,
        greatest(coalesce(any_value(s.end_ns), max(e.at_ns)), coalesce(any_value(t.at_ns), 0)) AS until_ns
    FROM event e, top t LEFT JOIN step_times s ON s.rank = t.rank AND s.step = t.step
), point AS (
    SELECT max(at_ns) AS at_ns, arg_max(place, (sum_bytes, -at_ns, -number, place)) AS place,
        arg_max(at_ns, (sum_bytes, -at_ns, -number, place)) AS shown_ns
    FROM event, shown WHERE at_ns BETWEEN from_ns AND until_ns
    GROUP BY (at_ns - from_ns) * 160 // greatest(1, until_ns - from_ns + 1)
    UNION ALL
    SELECT any_value(from_ns), max(place), any_value(from_ns) FROM event, shown WHERE at_ns IS NULL OR at_ns < from_ns
    HAVING count(*) > 0
    UNION ALL
    SELECT any_value(until_ns) + 1, max(place), any_value(until_ns) + 1 FROM event, shown
    WHERE at_ns IS NULL OR at_ns <= until_ns
), running AS (
    SELECT kind, place, sum(bytes) OVER (PARTITION BY kind ORDER BY place) AS kind_bytes FROM event
), named AS (
    -- What stays is at the bottom.
    SELECT p.*, k.kind, list_position(['parameter', 'buffer', 'optimizer_state', 'argument', 'unknown', 'gradient',
        'input', 'output', 'activation', 'temporary', 'workspace'], k.kind) AS level
    FROM point p, (SELECT DISTINCT kind FROM event) k
)
SELECT t.rank, t.device, n.shown_ns AS at_ns, n.kind,
    greatest(0, CAST(coalesce(r.kind_bytes, 0) AS BIGINT)) AS size_bytes,
    n.shown_ns IS NOT DISTINCT FROM t.at_ns AS is_peak
FROM named n ASOF LEFT JOIN running r ON r.kind = n.kind AND r.place <= n.place, top t
WHERE n.shown_ns IS NOT NULL
ORDER BY n.level, n.kind, n.shown_ns
