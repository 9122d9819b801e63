-- doc = """One kernel on a device stream, with what it does: by its name, and by the call it is part of where there is
-- one."""
-- materialize = true
-- [columns]
-- category = "what it does; docs/vocabulary.md"
-- algorithm = "convolution algorithm, decided by the call"
-- direction = "fprop, dgrad or wgrad"
-- role = "main, transform or helper of a convolution"
-- library = "library that implements it"
-- launch_start_ns = "start of the call that launched it"
-- launch_dur_ns = "duration of that call"
-- call_id = "outermost convolution operator around its launch"
SELECT
    k.id, k.rank, k.device, k.stream, k.name,
    coalesce(p.category, if(n.category = 'layout_transpose' AND k.op_id IN (SELECT id FROM raw.ops
        WHERE starts_with(path, 'aten::copy_ <') AND keeps_layout(shapes, strides)), 'copy', NULL), n.category, 'other')
        AS category,
    CASE WHEN p.id IS NULL THEN n.algorithm ELSE p.algorithm END AS algorithm,
    CASE WHEN p.id IS NULL THEN n.direction ELSE p.direction END AS direction,
    CASE WHEN p.id IS NULL THEN n.role ELSE p.role END AS role,
    n.library,
    k.start_ns, k.start_ns + k.dur_ns AS end_ns, k.dur_ns,
    k.grid_x, k.grid_y, k.grid_z, k.block_x, k.block_y, k.block_z, k.registers, k.shared_bytes, k.occupancy_pct,
    k.correlation, a.start_ns AS launch_start_ns, a.dur_ns AS launch_dur_ns, k.graph, k.graph_node, k.hlo_op,
    k.hlo_module, k.launch_id, k.range_id, k.library_id, k.op_id, k.op_name, k.op_path, k.op_link,
    k.layer, k.phase, k.step,
    p.call_id, k.device_until_ns, k.rank_until_ns
FROM raw.kernels k
LEFT JOIN names.kernel n
    ON n.name IS NOT DISTINCT FROM k.name AND n.op_path IS NOT DISTINCT FROM k.op_path
    AND n.phase IS NOT DISTINCT FROM k.phase
LEFT JOIN attributed.part p ON p.id = k.id
LEFT JOIN raw.api_calls a ON a.id = k.launch_id
