-- doc = """Steps of each rank as they were marked or worked out. Where a device was recorded, those before its first
-- work or after its last that launched none of it hold nothing to judge: marks of a profiler that was just started, or
-- about to stop. Where marks overlap, the earlier step ends where the next begins; of two that begin at once the later
-- mark stays."""
-- materialize = true
-- [columns]
-- found_by = "how the step was worked out; NULL where the profiler or the program marked it"
-- is_empty = "whether all of its devices' work lies before it, or after it, and none of that is its own"
WITH worked AS (
    SELECT rank, step, min(start_ns) AS start_ns, max(start_ns + dur_ns) AS end_ns
    FROM (SELECT rank, step, start_ns, dur_ns FROM raw.kernels
        UNION ALL SELECT rank, step, start_ns, dur_ns FROM raw.memcpys)
    GROUP BY rank, step
)
SELECT r.rank, r.step, r.start_ns, r.start_ns + r.own_ns AS end_ns, r.own_ns AS dur_ns, r.name,
    -- Numbers of their own have those that were worked out.
    if(r.id & ((CAST(1 AS BIGINT) << 40) - 1) >= CAST(1 AS BIGINT) << 39
        OR starts_with(r.domain, 'from when the device'), r.domain, NULL) AS found_by,
    o.step IS NULL AND coalesce(r.start_ns >= w.last_ns OR r.start_ns + r.dur_ns <= w.first_ns, false) AS is_empty
FROM (
    -- Each moment is of one step.
    SELECT *, least(dur_ns, lead(start_ns) OVER (PARTITION BY rank ORDER BY start_ns, id) - start_ns) AS own_ns
    FROM raw.ranges WHERE kind = 'step' AND step IS NOT NULL
) r
LEFT JOIN (SELECT rank, min(start_ns) AS first_ns, max(end_ns) AS last_ns FROM worked GROUP BY rank) w USING (rank)
LEFT JOIN worked o ON o.rank = r.rank AND o.step = r.step
WHERE r.own_ns > 0 OR r.dur_ns <= 0
