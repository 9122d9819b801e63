-- doc = "One copy or fill on a device stream."
-- materialize = true
-- [columns]
-- call_id = "outermost convolution operator around it"
-- role = "helper of a convolution, where it is part of a call"
-- launched_ns = "end of the call that launched it"
-- category = "memcpy_htod and so on, or memset"
SELECT
    m.id, m.rank, m.device, m.stream, m.direction, m.src_kind, m.dst_kind, m.src_device, m.dst_device, m.size_bytes,
    m.start_ns, m.start_ns + m.dur_ns AS end_ns, m.dur_ns, m.name, m.correlation, m.launch_id, m.range_id, m.library_id,
    m.op_id, m.op_name, m.op_link, m.layer, m.phase, m.step, p.call_id, p.direction AS call_direction,
    p.algorithm AS call_algorithm,
    -- Worked out here, not by those who read it: DuckDB 2.0 cannot compare a CASE over a stored column of NULLs alone.
    CASE WHEN p.call_id IS NOT NULL THEN 'helper' END AS role,
    m.device_until_ns, m.rank_until_ns, a.start_ns + a.dur_ns AS launched_ns,
    CASE WHEN m.direction = 'memset' THEN 'memset' WHEN m.direction = 'unknown' THEN 'other'
        ELSE 'memcpy_' || lower(m.direction) END AS category
FROM raw.memcpys m
LEFT JOIN attributed.part p ON p.id = m.id
LEFT JOIN raw.api_calls a ON a.id = m.launch_id
