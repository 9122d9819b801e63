-- title = "Memory copies"
-- doc = "Copies and memsets on devices by direction and kind of memory, over the whole recording."
-- cannot = """No memory copy or memset was recorded (a CPU run has none; on ROCm those done by kernels count as
-- kernels)."""
-- [chart]
-- kind = "bars"
-- label = "direction"
-- group = "memory"
-- parts = ["total_ns"]
-- [columns]
-- direction = "HtoD, DtoH, DtoD, PtoP, HtoH or memset"
-- memory = "kinds of memory copied from and to, where recorded"
-- calls = "copies"
-- size_bytes = "bytes, of the copies that record a size"
-- total_ns = "sum of their durations"
-- throughput_bytes_per_s = "bytes over the time of the copies that record a size"
SELECT direction, coalesce(src_kind || ' to ' || dst_kind, dst_kind, src_kind, '?') AS memory, count(*) AS calls,
    sum(size_bytes) AS size_bytes, sum(dur_ns) AS total_ns,
    1e9 * sum(size_bytes) / nullif(sum(dur_ns) FILTER (size_bytes IS NOT NULL), 0) AS throughput_bytes_per_s
FROM memcpys
GROUP BY direction, memory
ORDER BY total_ns DESC, direction, memory
