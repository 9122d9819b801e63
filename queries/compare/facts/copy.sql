-- doc = """Memory copies and memsets per step and rank, or of the whole run as a profiler's printed summary has them;
-- bytes and sized time are those of copies that record a size."""
-- [columns]
-- direction = "HtoD, DtoH, DtoD, PtoP, HtoH or memset"
-- calls = "copies"
-- small_calls = "of them below 4096 bytes"
-- size_bytes = "bytes moved"
-- sized_ns = "time of the copies that record a size"
-- total_ns = "sum of durations"
SELECT m.direction, CAST(sum(r.weight) AS DOUBLE) AS calls,
    CAST(sum(r.weight) FILTER (m.size_bytes < 4096) AS DOUBLE) AS small_calls,
    CAST(sum(m.size_bytes * r.weight) AS DOUBLE) AS size_bytes,
    CAST(sum(m.dur_ns * r.weight) FILTER (m.size_bytes IS NOT NULL) AS DOUBLE) AS sized_ns,
    CAST(sum(m.dur_ns * r.weight) AS DOUBLE) AS total_ns
FROM memcpys m JOIN chosen_rows r ON r.id = m.id AND r.kind = 'copy'
GROUP BY m.direction
UNION ALL
SELECT copy_direction, CAST(sum(calls) AS DOUBLE), NULL, CAST(sum(size_bytes) AS DOUBLE),
    CAST(sum(total_ns) FILTER (size_bytes IS NOT NULL) AS DOUBLE), CAST(sum(total_ns) AS DOUBLE)
FROM printed_totals WHERE kind = 'copy'
GROUP BY copy_direction
ORDER BY ALL
