-- title = "Copies"
-- doc = "Memory copies and memsets on devices, over the whole recording."
-- cannot = """No memory copy or memset was recorded (a CPU run has none; on ROCm those done by kernels count as
-- kernels)."""
-- [columns]
-- direction = "HtoD, DtoH, DtoD, PtoP, HtoH or memset"
-- calls = "copies"
-- size_bytes = "bytes, of the copies that record a size"
-- total_ns = "sum of their durations"
-- throughput_bytes_per_s = "bytes over the time of the copies that record a size"
SELECT direction, count(*) AS calls, sum(size_bytes) AS size_bytes, sum(dur_ns) AS total_ns,
    1e9 * sum(size_bytes) / nullif(sum(dur_ns) FILTER (size_bytes IS NOT NULL), 0) AS throughput_bytes_per_s
FROM memcpys
GROUP BY direction
ORDER BY total_ns DESC, direction
