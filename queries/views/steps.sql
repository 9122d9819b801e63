-- title = "steps"
-- doc = "One training step of a rank. Busy is the union of everything its devices did between its start and its end."
-- [columns]
-- step = "number of the step"
-- is_warmup = "leading step that takes half as long again as the median"
-- found_by = "how the step was found; NULL when the profiler marked it"
-- busy_ns = "union of everything the rank's devices did inside the step; NULL where nothing of any device was recorded"
-- idle_ns = "the step's time without that"
WITH inside AS (
    SELECT s.rank, s.step, s.start_ns,
        sum(greatest(least(b.end_ns, s.end_ns) - greatest(b.start_ns, coalesce(b.rank_until_ns, b.start_ns), s.start_ns),
            0)) AS busy_ns
    FROM step_times s JOIN activities b ON b.rank = s.rank AND b.start_ns < s.end_ns AND b.end_ns > s.start_ns
    GROUP BY ALL
), with_devices AS (
    SELECT DISTINCT rank FROM activities
)
SELECT s.rank, s.step, s.start_ns, s.end_ns, s.dur_ns, s.is_warmup, s.found_by,
    if(d.rank IS NULL, NULL, CAST(coalesce(i.busy_ns, 0) AS BIGINT)) AS busy_ns,
    if(d.rank IS NULL, NULL, CAST(s.dur_ns - coalesce(i.busy_ns, 0) AS BIGINT)) AS idle_ns
FROM step_times s LEFT JOIN inside i USING (rank, step, start_ns) LEFT JOIN with_devices d USING (rank)
