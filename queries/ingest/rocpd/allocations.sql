-- title = "rocpd: allocations"
-- doc = "Memory that was taken and given back."
-- into = "events"
-- tables = ["rocpd_memory_allocate"]
-- [params]
-- first = { type = "BIGINT", doc = "id of the first row" }
-- [source]
-- start = "BOUNDED"
-- end = "BOUNDED"
-- start_id = "BIGINT"
-- end_id = "BIGINT"
-- pid = "BIGINT"
-- tid = "BIGINT"
-- agent_id = "BIGINT"
-- type = "VARCHAR"
-- level = "VARCHAR"
-- size = "BIGINT"
-- address = "BIGINT"
SELECT
    $first + "row" AS id, coalesce(k.start, b.value) AS start_ns,
    coalesce(coalesce(k."end", e.value) - coalesce(k.start, b.value), 0) AS dur_ns, p.pid, h.tid,
    'memory' AS category, lower(coalesce(k.type, 'allocation')) AS name,
    to_json({bytes: size, address: address, level: level, device: a.device}) AS args
FROM source k
LEFT JOIN stamp b ON b.id = k.start_id
LEFT JOIN stamp e ON e.id = k.end_id
LEFT JOIN process p ON p.id = k.pid
LEFT JOIN host_thread h ON h.id = k.tid
LEFT JOIN agent a ON a.id = k.agent_id
WHERE coalesce(k.start, b.value) IS NOT NULL
