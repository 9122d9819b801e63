-- title = "Memory over time"
-- doc = "The largest sample of each of at most 400 equal parts of the recording, where the profiler sampled memory."
-- cannot = "No memory samples in this trace (PyTorch: profile_memory=True)."
-- [chart]
-- kind = "lines"
-- x = "at_ns"
-- line = "counter"
-- y = "value_bytes"
-- [columns]
-- counter = "what was sampled, and where"
-- at_ns = "time of the sample"
-- value_bytes = "the sample"
WITH sample AS (
    SELECT name || coalesce(' gpu ' || CAST(device AS VARCHAR), ' host') || ' rank ' || CAST(rank AS VARCHAR)
            AS counter, start_ns, value
    FROM counters WHERE name LIKE '%bytes' AND isfinite(value)
), frame AS (
    SELECT min(start_ns) AS first_ns, max(start_ns) AS last_ns FROM sample
)
SELECT counter, arg_max(start_ns, (value, -start_ns)) AS at_ns, max(value) AS value_bytes
FROM sample, frame
GROUP BY counter, (start_ns - first_ns) * 400 // greatest(1, last_ns - first_ns + 1)
ORDER BY counter, at_ns
