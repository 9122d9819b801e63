-- title = "NVTX: the lines of traceview's receiver"
-- doc = """Kind, time, duration or number, thread, domain, name. Lines of another form are left out; the reader counts
-- them."""
-- [params]
-- first = { type = "BIGINT", doc = "id of the first line" }
-- zero = { type = "BIGINT", doc = "zero of the capture's clock, in nanoseconds since 1970" }
WITH parted AS (
    SELECT "row", string_split(line, chr(9)) AS part FROM lines
)
SELECT
    $first + "row" AS id, part[1] AS kind, TRY_CAST(part[2] AS BIGINT) - $zero AS time_ns,
    TRY_CAST(part[3] AS BIGINT) AS number, TRY_CAST(part[4] AS BIGINT) AS tid, nullif(part[5], '') AS domain,
    part[6] AS name
FROM parted
WHERE len(part) = 6 AND part[1] IN ('R', 'S', 'E', 'M')
    AND TRY_CAST(part[2] AS BIGINT) BETWEEN 0 AND 9000000000000000000 AND TRY_CAST(part[3] AS BIGINT) >= 0
    AND TRY_CAST(part[4] AS BIGINT) IS NOT NULL
