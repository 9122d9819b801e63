-- title = "memcpys"
-- doc = "One copy or fill on a device stream."
SELECT
    id, rank, device, stream, direction, src_kind, dst_kind, src_device, dst_device, size_bytes,
    start_ns, start_ns + dur_ns AS end_ns, dur_ns, name, correlation, launch_id, op_id, op_name, op_link, layer, step,
    CASE WHEN direction = 'memset' THEN 'memset' WHEN direction = 'unknown' THEN 'other'
        ELSE 'memcpy_' || lower(direction) END AS category
FROM raw.memcpys
