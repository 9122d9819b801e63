-- title = "Trace JSON of TensorFlow 2 and JAX: events as XPlane has them"
-- doc = """Planes are processes and lines are threads; stats are arguments, all of them texts. Long names stand in an
-- argument."""
SELECT
    e.id, e.start_ns, e.dur_ns, e.tid AS line_id, coalesce(t.label, '') AS line_name, 0 AS times, e.pid,
    TRY_CAST(regexp_extract(p.label, '^/device:\w+:(\d+)', 1) AS BIGINT) AS device, p.label AS plane,
    coalesce(nullif(lower(regexp_extract(p.label, '^/device:([A-Za-z]+)', 1)), ''), 'host') AS kind, true AS is_named,
    false AS is_full,
    coalesce(args ->> '$.long_name', e.name) AS event_name, NULL AS display_name,
    args ->> '$.annotation' AS annotation, args ->> '$.tf_op' AS tf_op, args ->> '$.name' AS name,
    args ->> '$.hlo_op' AS hlo_op, args ->> '$.hlo_module' AS hlo_module, args ->> '$.context_id' AS context_id,
    args ->> '$.step_name' AS step_name, args ->> '$.allocator_name' AS allocator_name,
    args ->> '$.kernel_details' AS kernel_details, args ->> '$.memcpy_details' AS memcpy_details,
    args ->> '$.memset_details' AS memset_details,
    TRY_CAST(args ->> '$.correlation_id' AS BIGINT) AS correlation_id,
    TRY_CAST(args ->> '$.step_num' AS BIGINT) AS step_num, NULL::BIGINT AS program_id,
    TRY_CAST(args ->> '$.bytes_allocated' AS BIGINT) AS bytes_allocated,
    TRY_CAST(args ->> '$.bytes_reserved' AS BIGINT) AS bytes_reserved,
    TRY_CAST(args ->> '$.addr' AS BIGINT) AS addr,
    TRY_CAST(args ->> '$.allocation_bytes' AS BIGINT) AS allocation_bytes,
    TRY_CAST(args ->> '$.requested_bytes' AS BIGINT) AS requested_bytes
FROM event e
LEFT JOIN (SELECT pid, any_value(label) AS label FROM label WHERE tid IS NULL GROUP BY pid) p ON p.pid = e.pid
LEFT JOIN (SELECT pid, tid, any_value(label) AS label FROM label WHERE tid IS NOT NULL GROUP BY pid, tid) t
    ON t.pid = e.pid AND t.tid = e.tid
WHERE e.ph = 'X' AND e.start_ns IS NOT NULL AND e.dur_ns IS NOT NULL
