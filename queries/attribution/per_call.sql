-- title = "What ran under each convolution call, in order"
-- doc = "One row per call: its operator, or where none was recorded the library's own call (cudnnConvolutionForward), the ids of its kernels, fills and primitives, and their names with the operator that launched each."
SELECT
    coalesce(c.id, r.id) AS call_id, coalesce(c.name, r.name) AS op,
    list(p.id ORDER BY p.start_ns, p.id) AS ids,
    list({'kind': p.kind, 'name': p.name, 'impl': p.impl, 'prop_kind': p.prop_kind, 'op': p.op_name}
        ORDER BY p.start_ns, p.id) AS items
FROM (
    SELECT 'kernel' AS kind, id, name, NULL AS impl, NULL AS prop_kind, op_id, op_name, library_id, start_ns
    FROM raw.kernels
    UNION ALL SELECT 'copy', id, name, NULL, NULL, op_id, op_name, library_id, start_ns FROM raw.memcpys
    UNION ALL SELECT 'primitive', id, kind, impl, prop_kind, op_id, op_name, NULL, start_ns FROM raw.primitives
) p
LEFT JOIN attributed.op o ON o.id = p.op_id
LEFT JOIN attributed.conv_op c ON c.id = o.call_id
LEFT JOIN raw.ranges r ON r.id = p.library_id AND c.id IS NULL AND r.name ILIKE '%convolution%'
WHERE coalesce(c.id, r.id) IS NOT NULL
GROUP BY ALL
