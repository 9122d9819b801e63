-- title = "By name"
-- doc = "Sums of durations: rows that overlap count twice here, unlike in reports of busy time."
-- cannot = "No kernel and no primitive in this trace."
-- [columns]
-- name = "as recorded"
-- category = "what it does; see docs/vocabulary.md"
-- algorithm = "convolution algorithm"
-- direction = "pass of a convolution"
-- library = "library that implements it"
-- calls = "times it ran"
-- total_ns = "sum of durations"
-- mean_ns = "mean duration"
-- min_ns = "shortest"
-- max_ns = "longest"
-- share_pct = "of the sum over all kernels and primitives"
SELECT name, category, algorithm, direction, library,
    count(*) AS calls, CAST(sum(dur_ns) AS BIGINT) AS total_ns, avg(dur_ns) AS mean_ns, min(dur_ns) AS min_ns,
    max(dur_ns) AS max_ns, 100.0 * sum(dur_ns) / nullif(sum(sum(dur_ns)) OVER (), 0) AS share_pct
FROM activities
WHERE kind IN ('kernel', 'primitive')
GROUP BY name, category, algorithm, direction, library
ORDER BY total_ns DESC, name, category, algorithm, direction, library
