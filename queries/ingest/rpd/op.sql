-- title = "rpd: work on a device"
-- doc = "Kernels, copies, fills and barriers, with the call that caused them where it is known."
-- into = "temp"
-- counts = true
-- tables = ["rocpd_op"]
-- [params]
-- first = { type = "BIGINT", doc = "id of the first row" }
-- pid = { type = "BIGINT", doc = "only work that this process caused" }
-- is_first = { type = "BOOLEAN", doc = "also work without a known process" }
-- [source]
-- id = "BIGINT"
-- gpuId = "BIGINT"
-- queueId = "BIGINT"
-- start = "BOUNDED"
-- end = "BOUNDED"
-- description_id = "BIGINT"
-- opType_id = "BIGINT"
SELECT
    $first + "row" AS id, gpuId AS device, queueId AS stream, start AS start_ns, "end" AS end_ns,
    start IS NULL AS is_lost, t.value AS type, coalesce(nullif(d.value, ''), t.value) AS name, l.api_id
FROM source s
LEFT JOIN string d ON d.id = description_id
LEFT JOIN string t ON t.id = opType_id
LEFT JOIN api_op l ON l.op_id = s.id
LEFT JOIN (SELECT DISTINCT ON (id) id, pid FROM api ORDER BY id, row_id) a ON a.id = l.api_id
WHERE $pid IS NULL OR coalesce(a.pid = $pid, $is_first)
