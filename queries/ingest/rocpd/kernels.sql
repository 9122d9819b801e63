-- title = "rocpd: kernels"
-- doc = """Grids are recorded in work items. Earlier tools write stream 0 for all, and the queue alone tells streams
-- apart."""
-- into = "kernels"
-- tables = ["rocpd_kernel_dispatch"]
-- [params]
-- first = { type = "BIGINT", doc = "id of the first row" }
-- [source]
-- start = "BOUNDED"
-- end = "BOUNDED"
-- start_id = "BIGINT"
-- end_id = "BIGINT"
-- track_id = "BIGINT"
-- agent_id = "BIGINT"
-- queue_id = "BIGINT"
-- stream_id = "BIGINT"
-- kernel_id = "BIGINT"
-- group_segment_size = "BOUNDED"
-- workgroup_size_x = "BOUNDED"
-- workgroup_size_y = "BOUNDED"
-- workgroup_size_z = "BOUNDED"
-- grid_size_x = "BOUNDED"
-- grid_size_y = "BOUNDED"
-- grid_size_z = "BOUNDED"
-- event_id = "BIGINT"
SELECT
    $first + "row" AS id, coalesce(k.start, b.value) AS start_ns,
    coalesce(k."end", e.value) - coalesce(k.start, b.value) AS dur_ns,
    a.device, if(bool_or(coalesce(k.stream_id, t.stream_id) <> 0) OVER (), coalesce(k.stream_id, t.stream_id),
        coalesce(k.queue_id, t.queue_id, k.stream_id, t.stream_id)) AS stream,
    coalesce(s.name, '[Unknown]') AS name,
    ceil(grid_size_x / nullif(workgroup_size_x, 0)) AS grid_x,
    ceil(grid_size_y / nullif(workgroup_size_y, 0)) AS grid_y,
    ceil(grid_size_z / nullif(workgroup_size_z, 0)) AS grid_z, workgroup_size_x AS block_x, workgroup_size_y AS block_y,
    workgroup_size_z AS block_z, s.registers, group_segment_size AS shared_bytes, v.correlation
FROM source k
LEFT JOIN track t ON t.id = k.track_id
LEFT JOIN stamp b ON b.id = k.start_id
LEFT JOIN stamp e ON e.id = k.end_id
LEFT JOIN agent a ON a.id = coalesce(k.agent_id, t.agent_id)
LEFT JOIN symbol s ON s.id = k.kernel_id
LEFT JOIN event v ON v.id = k.event_id
WHERE coalesce(k.start, b.value) IS NOT NULL AND coalesce(k."end", e.value) <> 0
