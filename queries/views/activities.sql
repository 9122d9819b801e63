-- title = "activities"
-- doc = "One row per thing a device did, GPU or CPU. On a CPU: library primitives, and what operators spent outside them."
SELECT
    'kernel' AS kind, id, rank, 'gpu ' || coalesce(CAST(device AS VARCHAR), '?') AS device, stream, name,
    category, algorithm, direction, role, library, start_ns, end_ns, dur_ns, op_id, op_name, layer, step, call_id
FROM kernels
UNION ALL BY NAME
SELECT
    'copy' AS kind, id, rank, 'gpu ' || coalesce(CAST(device AS VARCHAR), '?') AS device, stream, name,
    category, call_algorithm AS algorithm, call_direction AS direction, 'driver' AS library,
    CASE WHEN call_id IS NOT NULL THEN 'helper' END AS role, start_ns, end_ns, dur_ns, op_id, op_name, layer, step, call_id
FROM memcpys
UNION ALL BY NAME
SELECT
    'primitive' AS kind, p.id, p.rank, 'cpu' AS device, p.tid AS stream, p.kind || ' ' || p.impl AS name,
    p.category, p.algorithm, p.direction, p.role, p.library, p.start_ns, p.end_ns, p.dur_ns, p.op_id, p.op_name, p.layer,
    p.step, p.call_id
FROM primitives p
UNION ALL BY NAME
SELECT
    'op' AS kind, o.id, h.rank, 'cpu' AS device, o.tid AS stream, o.name,
    coalesce(o.category, 'other') AS category, o.direction, 'framework' AS library,
    CASE WHEN o.category = 'conv' THEN 'helper' END AS role,
    h.start_ns, h.end_ns, h.dur_ns, o.id AS op_id, o.name AS op_name, o.layer, o.step, c.call_id
FROM host_activities h JOIN ops o ON o.id = h.op_id LEFT JOIN attributed.op c ON c.id = h.op_id
