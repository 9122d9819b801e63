-- title = "By name"
-- doc = "Sums of durations: unlike in reports of active time, overlapping kernels count twice here."
-- cannot = "No kernels or primitives in this trace."
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
    CAST(sum(n) AS BIGINT) AS calls, CAST(sum(totals.total_ns) AS BIGINT) AS total_ns,
    sum(totals.total_ns) / sum(n) AS mean_ns,
    min(min_ns) AS min_ns, max(max_ns) AS max_ns,
    100.0 * sum(totals.total_ns) / nullif(sum(sum(totals.total_ns)) OVER (), 0) AS share_pct
FROM totals
WHERE kind IN ('kernel', 'primitive')
GROUP BY name, category, algorithm, direction, library
ORDER BY total_ns DESC, name, category, algorithm, direction, library
