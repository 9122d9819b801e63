-- doc = "Kernels and primitives by name, over the whole recording: how often they ran and how long they took."
-- materialize = true
-- whole_job = true
-- [columns]
-- n = "times it ran"
-- total_ns = "sum of durations: what overlaps counts twice"
-- sd_ns = "standard deviation (sample); NULL where it ran once"
SELECT name, category, algorithm, direction, library, count(*) AS n, CAST(sum(dur_ns) AS BIGINT) AS total_ns,
    min(dur_ns) AS min_ns, median(dur_ns) AS median_ns, max(dur_ns) AS max_ns, stddev_samp(dur_ns) AS sd_ns
FROM activities WHERE kind IN ('kernel', 'primitive')
GROUP BY name, category, algorithm, direction, library
-- In one order, so that sums of floating-point numbers over it are the same each time.
ORDER BY ALL
