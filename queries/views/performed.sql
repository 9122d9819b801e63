-- doc = """The rows of activities as they are recorded, without what is guessed of their layers and passes: for what
-- needs only when a device worked and at what. Work without a device is in none of a rank with several,
-- and a copy within the host in none at all: the host makes it."""
SELECT
    'kernel' AS kind, id, rank, a.kind || ' ' || coalesce(CAST(device AS VARCHAR), '?') AS device, stream, name,
    category, algorithm, direction, role, library, start_ns, end_ns, dur_ns, op_id, op_name, layer, step, call_id,
    device_until_ns, rank_until_ns, launch_start_ns + launch_dur_ns AS launched_ns
FROM kernels CROSS JOIN accelerator a
WHERE device IS NOT NULL OR rank IN (SELECT rank FROM recorded WHERE NOT has_device)
UNION ALL BY NAME
SELECT
    'copy' AS kind, id, rank, a.kind || ' ' || coalesce(CAST(device AS VARCHAR), '?') AS device, stream, name,
    category, call_algorithm AS algorithm, call_direction AS direction, role, 'driver' AS library,
    start_ns, end_ns, dur_ns, op_id, op_name, layer, step, call_id,
    device_until_ns, rank_until_ns, launched_ns
FROM memcpys CROSS JOIN accelerator a
WHERE (device IS NOT NULL OR rank IN (SELECT rank FROM recorded WHERE NOT has_device))
    AND direction IS DISTINCT FROM 'HtoH'
UNION ALL BY NAME
SELECT *, 'cpu' AS device, device_until_ns AS rank_until_ns FROM host_rows
