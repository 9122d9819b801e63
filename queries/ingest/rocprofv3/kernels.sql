-- title = "rocprofv3: kernels"
-- doc = "The stream is the hardware queue, on which kernels follow each other. The grid is recorded in work-items."
SELECT
    r.id, r.start_timestamp AS start_ns, r.end_timestamp - r.start_timestamp AS dur_ns,
    coalesce(a.device, r.dispatch_info.agent_id.handle) AS device, r.dispatch_info.queue_id.handle AS stream,
    coalesce(s.name, '[Unknown]') AS name, r.correlation_id.internal AS correlation, s.registers,
    r.dispatch_info.group_segment_size AS shared_bytes,
    r.dispatch_info.workgroup_size.x AS block_x, r.dispatch_info.workgroup_size.y AS block_y,
    r.dispatch_info.workgroup_size.z AS block_z,
    (r.dispatch_info.grid_size.x + r.dispatch_info.workgroup_size.x - 1) // nullif(r.dispatch_info.workgroup_size.x,
        0) AS grid_x,
    (r.dispatch_info.grid_size.y + r.dispatch_info.workgroup_size.y - 1) // nullif(r.dispatch_info.workgroup_size.y,
        0) AS grid_y,
    (r.dispatch_info.grid_size.z + r.dispatch_info.workgroup_size.z - 1) // nullif(r.dispatch_info.workgroup_size.z,
        0) AS grid_z
FROM record r
LEFT JOIN symbol s ON s.kernel_id = r.dispatch_info.kernel_id
LEFT JOIN agent a ON a.handle = r.dispatch_info.agent_id.handle
WHERE buffer = 'kernel_dispatch' AND r.start_timestamp IS NOT NULL AND r.end_timestamp <> 0
