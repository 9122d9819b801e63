-- title = "rocpd: copies"
-- doc = "The direction stands in the name, as in MEMORY_COPY_HOST_TO_DEVICE. A copy within the host has no device."
-- into = "memcpys"
-- tables = ["rocpd_memory_copy"]
-- [params]
-- first = { type = "BIGINT", doc = "id of the first row" }
-- [source]
-- start = "BOUNDED"
-- end = "BOUNDED"
-- start_id = "BIGINT"
-- end_id = "BIGINT"
-- track_id = "BIGINT"
-- name_id = "BIGINT"
-- dst_agent_id = "BIGINT"
-- src_agent_id = "BIGINT"
-- size = "BIGINT"
-- queue_id = "BIGINT"
-- stream_id = "BIGINT"
-- event_id = "BIGINT"
SELECT
    $first + "row" AS id, coalesce(k.start, b.value) AS start_ns,
    coalesce(k."end", e.value) - coalesce(k.start, b.value) AS dur_ns,
    CASE WHEN d.type = 'GPU' THEN d.device WHEN c.type = 'GPU' THEN c.device END AS device,
    coalesce(k.stream_id, t.stream_id, k.queue_id, t.queue_id) AS stream, n.value AS name,
    CASE
        WHEN n.value LIKE '%HOST_TO_DEVICE' THEN 'HtoD' WHEN n.value LIKE '%DEVICE_TO_HOST' THEN 'DtoH'
        WHEN n.value LIKE '%DEVICE_TO_DEVICE' THEN CASE WHEN c.device <> d.device THEN 'PtoP' ELSE 'DtoD' END
        WHEN n.value LIKE '%HOST_TO_HOST' THEN 'HtoH' ELSE 'unknown'
    END AS direction,
    CASE WHEN c.type = 'GPU' THEN 'device' END AS src_kind, CASE WHEN d.type = 'GPU' THEN 'device' END AS dst_kind,
    CASE WHEN c.type = 'GPU' THEN c.device END AS src_device, CASE WHEN d.type = 'GPU' THEN d.device END AS dst_device,
    size AS size_bytes, v.correlation
FROM source k
LEFT JOIN track t ON t.id = k.track_id
LEFT JOIN stamp b ON b.id = k.start_id
LEFT JOIN stamp e ON e.id = k.end_id
LEFT JOIN agent c ON c.id = k.src_agent_id
LEFT JOIN agent d ON d.id = k.dst_agent_id
LEFT JOIN string n ON n.id = k.name_id
LEFT JOIN event v ON v.id = k.event_id
WHERE coalesce(k.start, b.value) IS NOT NULL AND coalesce(k."end", e.value) <> 0
