-- title = "Kineto: kernels"
-- doc = "Kernels on a device stream. ROCm records grid and block on the launching call only."
SELECT
    id, start_ns, greatest(dur_ns, 0) AS dur_ns, name,
    TRY_CAST(args.device AS BIGINT) AS device,
    TRY_CAST(args.context AS BIGINT) AS context,
    TRY_CAST(args.stream AS BIGINT) AS stream,
    args.grid[1] AS grid_x, args.grid[2] AS grid_y, args.grid[3] AS grid_z,
    args.block[1] AS block_x, args.block[2] AS block_y, args.block[3] AS block_z,
    TRY_CAST(args."registers per thread" AS BIGINT) AS registers,
    TRY_CAST(args."shared memory" AS BIGINT) AS shared_bytes,
    TRY_CAST(args."est. achieved occupancy %" AS DOUBLE) AS occupancy_pct,
    TRY_CAST(args.correlation AS BIGINT) AS correlation,
    TRY_CAST(args."External id" AS BIGINT) AS external_id,
    TRY_CAST(args."graph id" AS BIGINT) AS graph,
    TRY_CAST(args."graph node id" AS BIGINT) AS graph_node
FROM event
WHERE ph = 'X' AND cat = 'kernel' AND start_ns IS NOT NULL AND dur_ns IS NOT NULL
