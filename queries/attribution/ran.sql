-- title = "Kernels, copies and primitives"
-- doc = """Everything that a convolution call may have run, with what its category is told by, and the operator inside
-- the call that computes one gradient alone, that casts or pads what the call reads, or that adds up PyTorch's
-- complex convolution, which is three real ones."""
SELECT *, nullif(regexp_extract(op_path,
    '[\w:]*_backward_(?:input|weights?)\b|\baten::(?:_to_copy|constant_pad_nd)\b'
    || '|^aten::(?:add|sub|mul) < aten::conv(?:_transpose)?\dd\b'), '') AS part_op
FROM (
    SELECT 'kernel' AS kind, name, NULL AS impl, NULL AS prop_kind, id, op_id, op_path, library_id, start_ns
    FROM raw.kernels
    UNION ALL SELECT 'copy', name, NULL, NULL, id, op_id, op_path, library_id, start_ns FROM raw.memcpys
    UNION ALL SELECT 'primitive', kind, impl, prop_kind, id, op_id, NULL, NULL, start_ns FROM raw.primitives
)
