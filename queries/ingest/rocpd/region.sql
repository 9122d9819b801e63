-- title = "rocpd: regions on the host"
-- doc = "Calls of HIP, HSA and libraries, and roctx ranges, which have their text in the event."
-- into = "temp"
-- counts = true
-- tables = ["rocpd_region"]
-- [params]
-- first = { type = "BIGINT", doc = "id of the first row" }
-- [source]
-- start = "BOUNDED"
-- end = "BOUNDED"
-- start_id = "BIGINT"
-- end_id = "BIGINT"
-- track_id = "BIGINT"
-- pid = "BIGINT"
-- tid = "BIGINT"
-- name_id = "BIGINT"
-- event_id = "BIGINT"
SELECT
    $first + "row" AS id, coalesce(k.start, b.value) AS start_ns, start_ns IS NULL AS is_lost,
    coalesce(k."end", e.value) - coalesce(k.start, b.value) AS dur_ns,
    p.pid, h.tid, coalesce(n.value, '[Unknown]') AS name, coalesce(v.category, '') AS category, v.correlation, v.message
FROM source k
LEFT JOIN track t ON t.id = k.track_id
LEFT JOIN stamp b ON b.id = k.start_id
LEFT JOIN stamp e ON e.id = k.end_id
LEFT JOIN process p ON p.id = coalesce(k.pid, t.pid)
LEFT JOIN host_thread h ON h.id = coalesce(k.tid, t.tid)
LEFT JOIN string n ON n.id = k.name_id
LEFT JOIN event v ON v.id = k.event_id
