-- title = "primitives"
-- doc = "One call into a CPU library's primitive (oneDNN, NNPACK)."
SELECT
    p.id, p.rank, p.pid, p.tid, p.library, p.kind, p.impl, p.prop_kind, p.algorithm_recorded,
    n.algorithm, n.direction, coalesce(n.category, 'other') AS category, n.role,
    p.shape, p.formats, p.attributes,
    p.start_ns, p.start_ns + p.dur_ns AS end_ns, p.dur_ns, p.op_id, p.op_name, p.op_link, p.layer, p.step
FROM raw.primitives p
LEFT JOIN names.primitive n
    ON n.kind IS NOT DISTINCT FROM p.kind AND n.impl IS NOT DISTINCT FROM p.impl
    AND n.prop_kind IS NOT DISTINCT FROM p.prop_kind
