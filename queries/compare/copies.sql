-- title = "Memory copies and memsets"
-- doc = """Sums of durations; throughput is bytes over the time of copies that record a size. Of a profiler's printed
-- summary they are those of the whole run."""
-- cannot = "There are no two runs with timelines or printed summaries, or neither records a copy."
-- leave_out = [
--     "base_mean_bytes", "mean_bytes", "calls_ratio", "base_throughput_bytes_per_s", "throughput_bytes_per_s",
--     "base_size_bytes", "size_bytes", "ratio",
-- ]
-- [columns]
-- run = "run"
-- direction = "HtoD, DtoH, DtoD, PtoP, HtoH or memset"
-- base_calls = "of A"
-- calls = "of the run"
-- calls_ratio = "the run's over A's"
-- base_size_bytes = "bytes of A"
-- size_bytes = "bytes of the run"
-- base_mean_bytes = "bytes per copy of A"
-- mean_bytes = "bytes per copy of the run"
-- base_ns = "time of A"
-- total_ns = "time of the run"
-- diff_ns = "difference"
-- ratio = "the run's time over A's"
-- base_throughput_bytes_per_s = "throughput of A"
-- throughput_bytes_per_s = "throughput of the run"
-- share_pct = "of the difference of the whole step"
-- [headings]
-- share_pct = "of difference"
WITH side AS (
    SELECT p.run, p.label, p.share_of_ns AS whole_ns, direction,
        coalesce(any_value(c.calls) FILTER (c.run = 0), 0) AS base_calls,
        coalesce(any_value(c.calls) FILTER (c.run > 0), 0) AS calls,
        any_value(c.size_bytes) FILTER (c.run = 0) AS base_size_bytes,
        any_value(c.size_bytes) FILTER (c.run > 0) AS size_bytes,
        coalesce(any_value(c.total_ns) FILTER (c.run = 0), 0) AS base_ns,
        coalesce(any_value(c.total_ns) FILTER (c.run > 0), 0) AS total_ns,
        any_value(c.sized_ns) FILTER (c.run = 0) AS base_sized_ns, any_value(c.sized_ns) FILTER (c.run > 0) AS sized_ns
    FROM pair p JOIN "copy" c ON c.run IN (0, p.run)
    WHERE NOT p.is_log
    GROUP BY ALL
)
SELECT label AS run, direction, base_calls, calls, calls / nullif(base_calls, 0) AS calls_ratio,
    base_size_bytes, size_bytes,
    base_size_bytes / nullif(base_calls, 0) AS base_mean_bytes, size_bytes / nullif(calls, 0) AS mean_bytes,
    base_ns, total_ns,
    total_ns - base_ns AS diff_ns, total_ns / nullif(base_ns, 0) AS ratio,
    1e9 * base_size_bytes / nullif(base_sized_ns, 0) AS base_throughput_bytes_per_s,
    1e9 * size_bytes / nullif(sized_ns, 0) AS throughput_bytes_per_s,
    100.0 * (total_ns - base_ns) / whole_ns AS share_pct
FROM side
ORDER BY side.run, abs(total_ns - base_ns) DESC, direction
