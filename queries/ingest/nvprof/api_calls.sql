-- title = "nvprof: runtime and driver calls"
-- doc = """Functions are numbers of CUPTI's callback lists. Thread numbers are signed halves of pthread's; markers have
-- the same half."""
-- into = "api_calls"
-- tables = ["CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_DRIVER"]
-- [params]
-- first = { type = "BIGINT", doc = "id of the first row" }
-- [source]
-- start = "BOUNDED"
-- end = "BOUNDED"
-- cbid = "BIGINT"
-- processId = "BIGINT"
-- threadId = "BIGINT"
-- correlationId = "BIGINT"
SELECT
    $first + "row" AS id, start AS start_ns, "end" - start AS dur_ns,
    processId AS pid, threadId & 4294967295 AS tid, s.kind, coalesce(c.name, s.kind || ' cbid ' || s.cbid) AS name,
    correlationId AS correlation
FROM (SELECT *, CASE "table" WHEN 'CUPTI_ACTIVITY_KIND_DRIVER' THEN 'driver' ELSE 'runtime' END AS kind FROM source) s
LEFT JOIN function c ON c.kind = s.kind AND c.cbid = s.cbid
WHERE start IS NOT NULL AND "end" <> 0
