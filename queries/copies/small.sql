-- title = "Small copies"
-- doc = """Copies below the limit cost a launch each and move very little. Over the whole recording; copies without a
-- recorded size and memsets are not counted."""
-- cannot = "No copy whose size is recorded is below the limit."
-- leave_out = ["size_bytes", "time_pct"]
-- [params]
-- below_bytes = { type = "BIGINT", default = 4096, doc = "a copy is small below this size" }
-- [columns]
-- direction = "HtoD, DtoH, DtoD, PtoP or HtoH"
-- operator = "operator that issued them"
-- small = "copies below the limit"
-- small_pct = "of all copies of this direction that record a size"
-- size_bytes = "bytes they moved"
-- total_ns = "sum of their durations"
-- time_pct = "of the time of all sized copies of this direction"
-- [headings]
-- small_pct = "of copies"
-- time_pct = "of copy time"
WITH sized AS (
    SELECT direction, op_name, size_bytes, dur_ns, count(*) OVER way AS n, sum(dur_ns) OVER way AS way_ns
    FROM memcpys WHERE direction <> 'memset' AND size_bytes IS NOT NULL
    WINDOW way AS (PARTITION BY direction)
)
SELECT direction, coalesce(op_name, '(no operator)') AS operator, count(*) AS small,
    100.0 * count(*) / any_value(n) AS small_pct, CAST(sum(size_bytes) AS BIGINT) AS size_bytes,
    CAST(sum(dur_ns) AS BIGINT) AS total_ns, 100.0 * sum(dur_ns) / nullif(any_value(way_ns), 0) AS time_pct
FROM sized
WHERE size_bytes < $below_bytes
GROUP BY direction, op_name
ORDER BY small DESC, direction, operator
