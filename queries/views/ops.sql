-- doc = "One framework operator on a host thread, with what its name says it computes."
-- [columns]
-- category = "what it computes, or the layer it works for"
-- algorithm = "convolution algorithm, where the operator itself tells"
-- direction = "pass of a convolution"
-- role = "main where the operator itself is a convolution's or matrix product's arithmetic"
-- library = "library that runs it, where the operator itself tells"
SELECT
    o.id, o.rank, o.pid, o.tid, o.name,
    -- A change of layout or of device goes through the same operators; the types of target and source tell.
    CASE WHEN n.category = 'cast' AND starts_with(o.path, 'aten::copy_ <') AND o.types ->> '$[0]' = o.types ->> '$[1]'
        THEN 'copy'
        WHEN n.category = 'layout_transpose' AND starts_with(o.path, 'aten::copy_ <')
            AND keeps_layout(o.shapes, o.strides) THEN 'copy'
        ELSE n.category END AS category, n.algorithm, n.direction, n.role, n.library,
    o.start_ns, o.start_ns + o.dur_ns AS end_ns, o.dur_ns, o.self_ns, o.parent_id, o.depth, o.path,
    o.is_backward, o.forward_id, o.layer, o.phase, o.step,
    o.shapes, o.strides, o.types, o.inputs, o.external_id, o.sequence, o.forward_thread, o.call_stack, o.frame_id,
    o.module_hierarchy,
    o.output_shapes, o.hlo_op, o.hlo_module, o.hlo_kind, o.backend, o.code_file, o.code_config
FROM raw.ops o
LEFT JOIN names.op n ON n.path IS NOT DISTINCT FROM o.path AND n.phase IS NOT DISTINCT FROM o.phase
    AND n.hlo_kind IS NOT DISTINCT FROM o.hlo_kind
