-- doc = "One training step of a rank. Busy is the union of everything its devices did between its start and its end."
-- materialize = true
-- [columns]
-- step = "number of the step"
-- is_warmup = "leading step of more than 1.5 times the median, also without what it waits longer for data than most"
-- found_by = "how the step was found; NULL when the profiler marked it"
-- busy_ns = "union of everything the rank's devices did inside the step; NULL where nothing of any device was recorded"
-- idle_ns = "the step's time without that"
WITH edge AS (
    SELECT rank, start_ns AS at_ns FROM step_times UNION SELECT rank, end_ns FROM step_times
), reached AS (
    SELECT e.rank, e.at_ns, p.before_ns + least(e.at_ns, p.end_ns) - p.from_ns AS busy_ns
    FROM edge e ASOF JOIN stretches p ON e.rank = p.rank AND e.at_ns >= p.from_ns
), with_devices AS (
    SELECT DISTINCT rank FROM performed
), busied AS (
    SELECT s.*, CAST(coalesce(b.busy_ns, 0) - coalesce(a.busy_ns, 0) AS BIGINT) AS inside_ns,
        d.rank IS NOT NULL AS has_devices
    FROM step_times s
    LEFT JOIN reached a ON a.rank = s.rank AND a.at_ns = s.start_ns
    LEFT JOIN reached b ON b.rank = s.rank AND b.at_ns = s.end_ns
    LEFT JOIN with_devices d ON d.rank = s.rank
)
SELECT rank, step, start_ns, end_ns, dur_ns, is_warmup, found_by, if(has_devices, inside_ns, NULL) AS busy_ns,
    if(has_devices, dur_ns - inside_ns, NULL) AS idle_ns
FROM busied
