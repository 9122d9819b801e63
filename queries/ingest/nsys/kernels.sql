-- title = "nsys: kernels"
-- doc = """Kernels on a device stream; those of a CUDA graph only when it was traced node by node. Both ends at 0
-- are no time, here as in all tables of CUPTI."""
-- into = "kernels"
-- tables = ["CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL"]
-- process = ["globalPid"]
-- [params]
-- first = { type = "BIGINT", doc = "id of the first row" }
-- [source]
-- start = "BOUNDED"
-- end = "BOUNDED"
-- deviceId = "BIGINT"
-- contextId = "BIGINT"
-- streamId = "BIGINT"
-- correlationId = "BIGINT"
-- demangledName = "BIGINT"
-- shortName = "BIGINT"
-- mangledName = "BIGINT"
-- registersPerThread = "BIGINT"
-- gridX = "BOUNDED"
-- gridY = "BOUNDED"
-- gridZ = "BOUNDED"
-- blockX = "BOUNDED"
-- blockY = "BOUNDED"
-- blockZ = "BOUNDED"
-- staticSharedMemory = "BOUNDED"
-- dynamicSharedMemory = "BOUNDED"
-- graphId = "BIGINT"
-- graphNodeId = "BIGINT"
SELECT
    $first + "row" AS id, start AS start_ns, "end" - start AS dur_ns,
    deviceId AS device, contextId AS context, streamId AS stream,
    coalesce(n.value, s.value, m.value, '[Unknown]') AS name,
    gridX AS grid_x, gridY AS grid_y, gridZ AS grid_z, blockX AS block_x, blockY AS block_y, blockZ AS block_z,
    registersPerThread AS registers, staticSharedMemory + dynamicSharedMemory AS shared_bytes,
    correlationId AS correlation, nullif(graphId, 0) AS graph, nullif(graphNodeId, 0) AS graph_node
FROM source k
LEFT JOIN string n ON n.id = k.demangledName
LEFT JOIN string s ON s.id = k.shortName
LEFT JOIN string m ON m.id = k.mangledName
WHERE start IS NOT NULL AND "end" <> 0
