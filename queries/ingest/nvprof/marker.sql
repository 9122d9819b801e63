-- title = "nvprof: NVTX markers"
-- doc = """A range is two rows with one id, flags 2 and 4; flag 1 is an instant. The thread lies in a blob: a 32-bit
-- process and a 64-bit thread, low byte first."""
-- into = "temp"
-- tables = ["CUPTI_ACTIVITY_KIND_MARKER"]
-- [params]
-- first = { type = "BIGINT", doc = "id of the first row" }
-- [source]
-- flags = "BIGINT"
-- timestamp = "BOUNDED"
-- id = "BIGINT"
-- objectKind = "BIGINT"
-- objectId = "VARCHAR"
-- name = "BIGINT"
-- domain = "BIGINT"
SELECT
    $first + "row" AS id, flags, timestamp AS start_ns, s.id AS marker, n.value AS name,
    CASE WHEN s.domain <> 0 THEN d.value END AS domain,
    TRY_CAST('0x' || s.objectId[7:8] || s.objectId[5:6] || s.objectId[3:4] || s.objectId[1:2] AS BIGINT) AS pid,
    CASE WHEN objectKind = 2 THEN
        TRY_CAST('0x' || s.objectId[15:16] || s.objectId[13:14] || s.objectId[11:12] || s.objectId[9:10] AS BIGINT)
    END AS tid
FROM source s LEFT JOIN string n ON n.id = s.name LEFT JOIN string d ON d.id = s.domain
