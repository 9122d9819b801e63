-- title = "Kernels, copies and primitives"
-- doc = "Everything that a convolution call may have run, with what its category is told by."
SELECT 'kernel' AS kind, name, NULL AS impl, NULL AS prop_kind, id, op_id, library_id, start_ns FROM raw.kernels
UNION ALL SELECT 'copy', name, NULL, NULL, id, op_id, library_id, start_ns FROM raw.memcpys
UNION ALL SELECT 'primitive', kind, impl, prop_kind, id, op_id, NULL, start_ns FROM raw.primitives
