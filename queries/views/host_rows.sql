-- doc = """Work of a CPU on ranks without a device: library primitives, and what operators spent outside them. Beside a
-- device the processor is no second one: half of the step would be its idle time."""
-- materialize = true
WITH host AS (
    SELECT rank FROM raw.ranks WHERE rank NOT IN (SELECT rank FROM raw.kernels UNION SELECT rank FROM raw.memcpys)
), outer_ops AS (
    SELECT parent_id AS id FROM ops WHERE category = 'conv' AND parent_id IS NOT NULL AND rank IN (FROM host)
), told_calls AS (
    SELECT call_id FROM primitives WHERE call_id IS NOT NULL
)
SELECT *, max(end_ns) OVER (PARTITION BY rank ORDER BY start_ns, end_ns DESC, id
    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS device_until_ns
FROM (
    SELECT
        'primitive' AS kind, id, rank, tid AS stream, primitives.kind || ' ' || impl AS name,
        category, algorithm, direction, role, library, start_ns, end_ns, dur_ns, op_id, op_name, layer, step, call_id
    FROM primitives WHERE rank IN (FROM host)
    UNION ALL BY NAME
    SELECT
        'op' AS kind, o.id, h.rank, o.tid AS stream, o.name,
        if(w.op_id IS NULL, coalesce(o.category, 'other'), 'communication') AS category,
        if(w.op_id IS NULL, o.algorithm, NULL) AS algorithm, if(w.op_id IS NULL, o.direction, NULL) AS direction,
        if(w.op_id IS NULL, coalesce(o.library, 'framework'), 'framework') AS library,
        -- Where a convolution is its operator's own work, and no library told of it, that is the arithmetic.
        CASE WHEN w.op_id IS NOT NULL THEN NULL WHEN c.call_id IS NULL THEN o.role
            WHEN o.role = 'main' OR (o.category = 'conv' AND o.id NOT IN (FROM outer_ops)
                AND c.call_id NOT IN (FROM told_calls)) THEN 'main'
            ELSE 'helper' END AS role,
        h.start_ns, h.end_ns, h.dur_ns, h.is_continued, o.id AS op_id, o.name AS op_name, o.layer, o.step, c.call_id
    FROM host_activities h JOIN ops o ON o.id = h.op_id
    LEFT JOIN exchange_waits w ON w.op_id = h.op_id AND w.start_ns = h.start_ns AND w.until_ns <= h.end_ns
    LEFT JOIN attributed.op c ON c.id = h.op_id AND w.op_id IS NULL
)
