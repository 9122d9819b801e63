-- doc = "Kernels and primitives by name, over the whole recording: how often they ran and how long they took."
-- materialize = true
-- whole_job = true
-- [columns]
-- category = "of several all, as where one kernel serves several operators; so algorithm, direction and library"
-- n = "times it ran"
-- total_ns = "sum of durations: what overlaps counts twice"
-- sd_ns = "standard deviation (sample); NULL where it ran once"
SELECT name, string_agg(DISTINCT category, ', ' ORDER BY category) AS category,
    string_agg(DISTINCT algorithm, ', ' ORDER BY algorithm) AS algorithm,
    string_agg(DISTINCT direction, ', ' ORDER BY direction) AS direction,
    string_agg(DISTINCT library, ', ' ORDER BY library) AS library,
    count(*) AS n, CAST(sum(dur_ns) AS BIGINT) AS total_ns, min(dur_ns) AS min_ns, median(dur_ns) AS median_ns,
    max(dur_ns) AS max_ns, stddev_samp(dur_ns) AS sd_ns
FROM activities WHERE kind IN ('kernel', 'primitive')
GROUP BY name
-- In one order, so that sums of floating-point numbers over it are the same each time.
ORDER BY ALL
