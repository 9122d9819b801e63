-- title = "What ran under each convolution call, in order"
-- doc = """One row per call: its operator, or where none was recorded the library's own call (cudnnConvolutionForward),
-- the ids of its kernels, fills and primitives, and the numbers of their kinds."""
SELECT
    coalesce(c.id, r.id) AS call_id, coalesce(c.judged_as, r.name) AS op,
    list(p.id ORDER BY p.start_ns, p.id) AS ids, list(i.number ORDER BY p.start_ns, p.id) AS items
FROM attributed.ran p
LEFT JOIN attributed.op o ON o.id = p.op_id
LEFT JOIN attributed.conv_op c ON c.id = o.call_id
LEFT JOIN raw.ranges r ON r.id = p.library_id AND c.id IS NULL AND r.name ILIKE '%convolution%'
JOIN attributed.item i ON i.kind = p.kind AND i.name IS NOT DISTINCT FROM p.name
    AND i.impl IS NOT DISTINCT FROM p.impl AND i.prop_kind IS NOT DISTINCT FROM p.prop_kind
    AND i.part_op IS NOT DISTINCT FROM p.part_op
WHERE coalesce(c.id, r.id) IS NOT NULL
GROUP BY ALL
