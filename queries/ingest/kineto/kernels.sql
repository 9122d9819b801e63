-- title = "Kineto: kernels"
-- doc = "Kernels on a device stream. ROCm records grid and block on the launching call only."
-- [args]
-- device = "BIGINT"
-- context = "BIGINT"
-- stream = "BIGINT"
-- grid = "BIGINT[]"
-- block = "BIGINT[]"
-- "registers per thread" = "BIGINT"
-- "shared memory" = "BIGINT"
-- "est. achieved occupancy %" = "DOUBLE"
-- correlation = "BIGINT"
-- "External id" = "BIGINT"
-- "graph id" = "BIGINT"
-- "graph node id" = "BIGINT"
SELECT
    id, start_ns, greatest(dur_ns, 0) AS dur_ns, name,
    args.device AS device,
    args.context AS context,
    args.stream AS stream,
    args.grid[1] AS grid_x, args.grid[2] AS grid_y, args.grid[3] AS grid_z,
    args.block[1] AS block_x, args.block[2] AS block_y, args.block[3] AS block_z,
    args."registers per thread" AS registers,
    args."shared memory" AS shared_bytes,
    args."est. achieved occupancy %" AS occupancy_pct,
    args.correlation AS correlation,
    args."External id" AS external_id,
    args."graph id" AS graph,
    args."graph node id" AS graph_node
FROM event
WHERE goes_to = 'kernels'
