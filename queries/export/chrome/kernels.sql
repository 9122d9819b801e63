-- title = "Chrome JSON: kernels"
-- doc = "With the arguments that PyTorch's profiler writes, and under traceview what is derived."
SELECT CAST(json_merge_patch('{}', to_json(
    {ph: 'X', cat: s.recorded_category, name: s.name, pid: s.pid, tid: s.tid, ts: s.ts, dur: s.dur,
        args: {device: k.device, stream: k.stream, correlation: k.correlation, "External id": r.external_id,
        context: r.context, grid: if(k.grid_x IS NULL, NULL, [k.grid_x, k.grid_y, k.grid_z]),
        block: if(k.block_x IS NULL, NULL, [k.block_x, k.block_y, k.block_z]),
        "registers per thread": k.registers, "shared memory": k.shared_bytes,
        "est. achieved occupancy %": k.occupancy_pct, "graph id": k.graph, "graph node id": k.graph_node,
        "Collective name": c.kind, "In msg nelems": c.n_elements, dtype: c.dtype, "Group size": c.group_size,
        "Process Group Name": c.group_name, Seq: c.sequence,
        traceview: {category: s.category, algorithm: s.algorithm, direction: s.direction, role: s.role,
            layer: s.layer, step: s.step, op: s.op_name}}})) AS VARCHAR) AS event
FROM export_named s
JOIN kernels k ON k.id = s.id
JOIN raw.kernels r ON r.id = s.id
LEFT JOIN raw.collectives c ON c.kernel_id = s.id
WHERE s.kind = 'kernel'
