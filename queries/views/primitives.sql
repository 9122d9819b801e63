-- doc = "One call into a CPU library's primitive (oneDNN, NNPACK)."
-- materialize = true
-- empty_without = ["raw.primitives"]
-- types = """id BIGINT, rank INTEGER, pid BIGINT, tid BIGINT, library VARCHAR, kind VARCHAR, impl VARCHAR,
-- prop_kind VARCHAR, algorithm_recorded VARCHAR, algorithm VARCHAR, direction VARCHAR, category VARCHAR,
-- role VARCHAR, shape VARCHAR, formats VARCHAR, attributes VARCHAR, start_ns BIGINT, end_ns BIGINT, dur_ns BIGINT,
-- op_id BIGINT, op_name VARCHAR, op_link VARCHAR, layer VARCHAR, phase VARCHAR, step BIGINT, call_id BIGINT"""
-- [columns]
-- algorithm = "convolution algorithm"
-- direction = "fprop, dgrad or wgrad"
-- call_id = "outermost convolution operator around it"
SELECT
    p.id, p.rank, p.pid, p.tid, p.library, p.kind, p.impl, p.prop_kind, p.algorithm_recorded,
    CASE WHEN c.id IS NULL THEN n.algorithm ELSE c.algorithm END AS algorithm,
    CASE WHEN c.id IS NULL THEN n.direction ELSE c.direction END AS direction,
    coalesce(c.category, n.category, 'other') AS category,
    CASE WHEN c.id IS NULL THEN n.role ELSE c.role END AS role,
    p.shape, p.formats, p.attributes,
    p.start_ns, p.start_ns + p.dur_ns AS end_ns, p.dur_ns, p.op_id, p.op_name, p.op_link, p.layer, p.phase,
    p.step, c.call_id
FROM raw.primitives p
LEFT JOIN attributed.part c ON c.id = p.id
LEFT JOIN names.primitive n
    ON n.kind IS NOT DISTINCT FROM p.kind AND n.impl IS NOT DISTINCT FROM p.impl
    AND n.prop_kind IS NOT DISTINCT FROM p.prop_kind
