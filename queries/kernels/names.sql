-- title = "By name"
-- doc = """Sums of durations: unlike in reports of active time, overlapping kernels count twice here. For a summary
-- that a profiler printed, these are its totals of the whole run on all devices."""
-- cannot = "No kernels or primitives in this trace."
-- leave_out = ["library", "min_ns", "max_ns", "sd_ns", "algorithm", "mean_ns", "category", "direction"]
-- kernels = ["name"]
-- rest = ["share_pct", "calls", "total_ns"]
-- [columns]
-- name = "as recorded"
-- share_pct = "of the sum over all kernels and primitives"
-- calls = "times it ran"
-- total_ns = "sum of durations"
-- mean_ns = "mean duration"
-- median_ns = "median duration"
-- sd_ns = "standard deviation of the durations (sample)"
-- min_ns = "shortest"
-- max_ns = "longest"
-- category = "what it does, of several all; see docs/vocabulary.md"
-- algorithm = "convolution algorithm, of several all"
-- direction = "pass of a convolution, of several all"
-- library = "library that implements it"
-- [headings]
-- share_pct = "of kernel time"
WITH ran AS (
    SELECT name, total_ns, n, median_ns, sd_ns, min_ns, max_ns, category, algorithm, direction, library
    FROM kernel_times
    UNION ALL BY NAME
    SELECT name, CAST(sum(total_ns) AS BIGINT) AS total_ns, CAST(sum(calls) AS BIGINT) AS n, min(min_ns) AS min_ns,
        max(max_ns) AS max_ns, any_value(category) AS category, any_value(algorithm) AS algorithm,
        any_value(direction) AS direction, any_value(library) AS library
    FROM printed_totals WHERE kind = 'kernel' GROUP BY name
)
SELECT name, 100.0 * total_ns / nullif(sum(total_ns) OVER (), 0) AS share_pct, n AS calls, total_ns,
    total_ns / n AS mean_ns, median_ns, sd_ns, min_ns, max_ns, category, algorithm, direction, library
FROM ran
ORDER BY total_ns DESC, name, n
