-- title = "By direction and memory kind"
-- doc = """Over the whole recording, or as a profiler's printed summary has them. Throughput is that of the copies
-- with a recorded size."""
-- cannot = """No memory copy or memset was recorded (a CPU run has none; on ROCm those done by kernels count as
-- kernels)."""
-- leave_out = ["unsized", "mean_bytes"]
-- [columns]
-- direction = "HtoD, DtoH, DtoD, PtoP, HtoH or memset"
-- memory = "kind of memory copied from and to: pageable, pinned, device"
-- calls = "copies"
-- unsized = "copies without a recorded size"
-- size_bytes = "bytes in all"
-- mean_bytes = "bytes per copy"
-- throughput_bytes_per_s = "bytes over time"
-- total_ns = "sum of durations"
-- share_pct = "of the time of all copies and memsets"
-- [headings]
-- share_pct = "of copy time"
WITH copy AS (
    SELECT direction, coalesce(src_kind || ' -> ' || dst_kind, dst_kind, '?') AS memory, 1 AS n, size_bytes, dur_ns
    FROM memcpys
    UNION ALL
    SELECT copy_direction, '?', calls, size_bytes, total_ns FROM printed_totals WHERE kind = 'copy'
)
SELECT direction, memory,
    CAST(sum(n) AS BIGINT) AS calls, CAST(coalesce(sum(n) FILTER (size_bytes IS NULL), 0) AS BIGINT) AS unsized,
    CAST(sum(size_bytes) AS BIGINT) AS size_bytes,
    sum(size_bytes) / sum(n) FILTER (size_bytes IS NOT NULL) AS mean_bytes,
    1e9 * sum(size_bytes) / nullif(sum(dur_ns) FILTER (size_bytes IS NOT NULL), 0) AS throughput_bytes_per_s,
    CAST(sum(dur_ns) AS BIGINT) AS total_ns,
    100.0 * sum(dur_ns) / nullif(sum(sum(dur_ns)) OVER (), 0) AS share_pct
FROM copy
GROUP BY direction, memory
ORDER BY total_ns DESC, direction, memory
