-- title = "ONNX Runtime: kernels of a device"
-- doc = """Written by providers that trace their device (CUDA, ROCm). Copies have their category, a direction as their
-- name and no grid."""
SELECT
    id, start_ns, dur_ns, name, coalesce(TRY_CAST(args ->> '$.device' AS BIGINT), 0) AS device,
    TRY_CAST(args ->> '$.stream' AS BIGINT) AS stream,
    TRY_CAST(args ->> '$.grid_x' AS BIGINT) AS grid_x, TRY_CAST(args ->> '$.grid_y' AS BIGINT) AS grid_y,
    TRY_CAST(args ->> '$.grid_z' AS BIGINT) AS grid_z, TRY_CAST(args ->> '$.block_x' AS BIGINT) AS block_x,
    TRY_CAST(args ->> '$.block_y' AS BIGINT) AS block_y, TRY_CAST(args ->> '$.block_z' AS BIGINT) AS block_z,
    TRY_CAST(args ->> '$.correlation_id' AS BIGINT) AS correlation,
    regexp_replace(args ->> '$.op_name', '_kernel_time$', '') AS recorded_op
FROM event
WHERE ph = 'X' AND cat = 'Kernel' AND start_ns IS NOT NULL AND dur_ns IS NOT NULL
    AND NOT coalesce(regexp_matches(name, '^Memcpy\w+To[A-Z]\w+$'), false)
