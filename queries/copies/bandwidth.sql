-- title = "Effective bandwidth by size"
-- doc = """Over the whole recording. The link is the host link of the GPU for HtoD and DtoH, and half of the memory
-- bandwidth for DtoD (read and written); of a product that is guessed neither is known. Values far above 100 % mean
-- that the recorded durations are too short to be those of the copies."""
-- cannot = "No copy with a recorded size in this trace."
-- leave_out = ["link_bytes_per_s", "size_bytes", "memory"]
-- [columns]
-- direction = "HtoD, DtoH, DtoD, PtoP or HtoH"
-- memory = "kind of memory copied from and to"
-- size = "class of copy sizes"
-- calls = "copies"
-- size_bytes = "bytes in all"
-- total_ns = "sum of durations"
-- throughput_bytes_per_s = "bytes over time"
-- link_bytes_per_s = "rate of the link, where known"
-- link_pct = "throughput, of the link"
-- [headings]
-- link_pct = "of link rate"
-- link_bytes_per_s = "link rate"
WITH sized AS (
    SELECT m.direction, coalesce(m.src_kind || ' -> ' || m.dst_kind, '?') AS memory, m.size_bytes, m.dur_ns,
        CASE WHEN starts_with(p.peaks_from, 'taken for ') THEN NULL
            WHEN m.direction IN ('HtoD', 'DtoH') THEN p.host_link_bytes_per_s
            WHEN m.direction = 'DtoD' THEN p.memory_bytes_per_s / 2 END AS link,
        CASE WHEN size_bytes < 4096 THEN 0 WHEN size_bytes < 65536 THEN 1 WHEN size_bytes < 1048576 THEN 2
            WHEN size_bytes < 16777216 THEN 3 ELSE 4 END AS class
    FROM memcpys m LEFT JOIN device_peaks p ON p.rank = m.rank AND p.device = m.device
    WHERE m.direction <> 'memset' AND m.size_bytes IS NOT NULL
)
SELECT direction, memory,
    ['below 4 KiB', '4 KiB to 64 KiB', '64 KiB to 1 MiB', '1 MiB to 16 MiB', '16 MiB and more'][class + 1] AS size,
    count(*) AS calls, CAST(sum(size_bytes) AS BIGINT) AS size_bytes, CAST(sum(dur_ns) AS BIGINT) AS total_ns,
    1e9 * sum(size_bytes) / nullif(sum(dur_ns), 0) AS throughput_bytes_per_s, any_value(link) AS link_bytes_per_s,
    100e9 * sum(size_bytes) / nullif(sum(dur_ns), 0) / any_value(link) AS link_pct
FROM sized
GROUP BY direction, memory, class
ORDER BY direction, memory, class
