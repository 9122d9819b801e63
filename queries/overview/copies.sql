-- title = "Copies"
-- doc = """Memory copies and memsets on devices{, per step and rank| over the whole recording, per rank}: those
-- launched in the {steps that count|recording}. The report copies has those of the whole recording."""
-- cannot = """No memory copy or memset was recorded in the steps (a CPU run has none; on ROCm those done by kernels
-- count as kernels)."""
-- brief = ""
-- subject = "copies of a device"
-- leave_out = ["total_ns"]
-- [columns]
-- direction = "HtoD, DtoH, DtoD, PtoP, HtoH or memset"
-- calls = "copies {per step|in the recording}"
-- size_bytes = "bytes {per step|in the recording}, of the copies that record a size"
-- busy_ns = "device time {per step|in the recording}, overlaps on a device counted once"
-- total_ns = "sum of their durations {per step|in the recording}; what overlaps counts twice"
-- throughput_bytes_per_s = "bytes over the time of the copies that record a size"
-- [fractions]
-- calls = "calls{/step| (mean)}"
WITH shown AS (
    SELECT m.direction, round(sum(1 / c.per_rank), 6) AS calls, sum(m.size_bytes / c.per_rank) AS size_bytes,
        sum(c.alone_ns / c.per_rank) AS busy_ns, sum(m.dur_ns / c.per_rank) AS total_ns,
        1e9 * sum(m.size_bytes) / nullif(sum(m.dur_ns) FILTER (m.size_bytes IS NOT NULL), 0) AS throughput_bytes_per_s
    FROM counted c JOIN memcpys m ON m.id = c.id
    WHERE c.kind = 'copy'
    GROUP BY m.direction
    UNION ALL
    SELECT copy_direction, sum(calls), sum(size_bytes), sum(total_ns), sum(total_ns),
        1e9 * sum(size_bytes) FILTER (total_ns IS NOT NULL) / nullif(sum(total_ns) FILTER (size_bytes IS NOT NULL), 0)
    FROM printed_totals WHERE kind = 'copy' GROUP BY copy_direction
)
SELECT direction, calls, size_bytes, busy_ns, total_ns, throughput_bytes_per_s FROM shown
ORDER BY busy_ns DESC, direction
