-- title = "TensorFlow 1: operators as scheduled on the host"
-- doc = """Also those of the GPU device: the span is that of their launch. What the optimizer fused is named after its
-- last part; its module is that of the filter or matrix it reads. Until all are there, the module hierarchy is an
-- operator of that module. The collector adds shapes of convolutions: image, filter and bias of the forward pass,
-- channels first, and its result; inputs are stride, padding, dilation and groups."""
SELECT id, start_ns, dur_ns, pid, tid, coalesce(op, name) AS name, regexp_replace(label, ' Compute$', '') AS backend,
    CASE WHEN starts_with(args ->> '$.op', '_Fused')
        AND regexp_matches(args ->> '$.input1', '/[^/]+/(read|ReadVariableOp)$')
        THEN regexp_replace(args ->> '$.input1', '/[^/]+/(read|ReadVariableOp)$', '/fused') END AS module_hierarchy,
    args ->> '$.shapes' AS shapes, args ->> '$.output_shapes' AS output_shapes, args ->> '$.inputs' AS inputs,
    args ->> '$.types' AS types
FROM placed WHERE goes = 'ops'
