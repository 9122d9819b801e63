-- title = "nvprof: kernels"
-- doc = """CONCURRENT_KERNEL since CUDA 5, KERNEL when kernels were serialised for counters. Both ends at 0 are no
-- time, here as in all tables of CUPTI."""
-- into = "kernels"
-- tables = ["CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL", "CUPTI_ACTIVITY_KIND_KERNEL"]
-- [params]
-- first = { type = "BIGINT", doc = "id of the first row" }
-- [source]
-- start = "BOUNDED"
-- end = "BOUNDED"
-- deviceId = "BIGINT"
-- contextId = "BIGINT"
-- streamId = "BIGINT"
-- correlationId = "BIGINT"
-- name = "BIGINT"
-- registersPerThread = "BIGINT"
-- gridX = "BOUNDED"
-- gridY = "BOUNDED"
-- gridZ = "BOUNDED"
-- blockX = "BOUNDED"
-- blockY = "BOUNDED"
-- blockZ = "BOUNDED"
-- staticSharedMemory = "BOUNDED"
-- dynamicSharedMemory = "BOUNDED"
SELECT
    $first + "row" AS id, start AS start_ns, "end" - start AS dur_ns,
    deviceId AS device, contextId AS context, streamId AS stream, coalesce(n.value, '[Unknown]') AS name,
    gridX AS grid_x, gridY AS grid_y, gridZ AS grid_z, blockX AS block_x, blockY AS block_y, blockZ AS block_z,
    registersPerThread AS registers, staticSharedMemory + dynamicSharedMemory AS shared_bytes,
    correlationId AS correlation
FROM source k LEFT JOIN string n ON n.id = k.name
WHERE start IS NOT NULL AND "end" <> 0
