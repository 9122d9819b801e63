-- doc = "Memory copies and memsets per step and rank; bytes and sized time are those of copies that record a size."
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
ORDER BY m.direction
