-- title = "nsys: NVTX events"
-- doc = "A name is the text itself or the number of one. Payloads are a union of numbers, or JSON."
-- into = "temp"
-- tables = ["NVTX_EVENTS"]
-- process = ["globalTid"]
-- [params]
-- first = { type = "BIGINT", doc = "id of the first row" }
-- [source]
-- start = "BOUNDED"
-- end = "BOUNDED"
-- eventType = "BIGINT"
-- category = "BIGINT"
-- text = "VARCHAR"
-- textId = "BIGINT"
-- globalTid = "BIGINT"
-- endGlobalTid = "BIGINT"
-- domainId = "BIGINT"
-- uint64Value = "BIGINT"
-- int64Value = "BIGINT"
-- doubleValue = "DOUBLE"
-- uint32Value = "BIGINT"
-- int32Value = "BIGINT"
-- floatValue = "DOUBLE"
-- jsonTextId = "BIGINT"
-- jsonText = "VARCHAR"
SELECT
    $first + "row" AS id, start AS start_ns, "end" AS end_ns, eventType AS type, category, domainId AS domain,
    (globalTid >> 24) & 16777215 AS pid, globalTid & 16777215 AS tid,
    coalesce(endGlobalTid, globalTid) = globalTid AS ends_there,
    coalesce(text, n.value) AS name,
    coalesce(
        jsonText, j.value, CAST(uint64Value AS VARCHAR), CAST(int64Value AS VARCHAR), CAST(uint32Value AS VARCHAR),
        CAST(int32Value AS VARCHAR), CAST(doubleValue AS VARCHAR), CAST(floatValue AS VARCHAR)
    ) AS payload
FROM source LEFT JOIN string n ON n.id = textId LEFT JOIN string j ON j.id = jsonTextId
