-- title = "nsys: synchronisation, CUDA graphs, overhead, operating system, MPI, memory"
-- doc = "Timed rows that no other table takes, with what they hold as JSON, and graphs recorded as a whole."
-- into = "events"
-- tables = ["CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
--     "CUDA_GRAPH_EVENTS", "CUDA_GRAPH_NODE_EVENTS", "CUPTI_ACTIVITY_KIND_OVERHEAD",
--     "CUPTI_ACTIVITY_KIND_JIT", "PROFILER_OVERHEAD", "CUDA_GPU_MEMORY_USAGE_EVENTS", "OSRT_API", "MPI_P2P_EVENTS",
--     "MPI_COLLECTIVES_EVENTS", "MPI_START_WAIT_EVENTS", "MPI_OTHER_EVENTS", "NCCL_EVENTS"]
-- process = ["globalTid", "globalPid"]
-- [params]
-- first = { type = "BIGINT", doc = "id of the first row" }
-- [source]
-- start = "BOUNDED"
-- end = "BOUNDED"
-- timestamp = "BOUNDED"
-- globalTid = "BIGINT"
-- globalPid = "BIGINT"
-- nameId = "BIGINT"
-- deviceId = "BIGINT"
-- contextId = "BIGINT"
-- streamId = "BIGINT"
-- correlationId = "BIGINT"
-- syncType = "BIGINT"
-- eventId = "BIGINT"
-- eventSyncId = "BIGINT"
-- overheadType = "BIGINT"
-- graphId = "BIGINT"
-- graphExecId = "BIGINT"
-- originalGraphId = "BIGINT"
-- graphNodeId = "BIGINT"
-- originalGraphNodeId = "BIGINT"
-- returnValue = "BIGINT"
-- bytes = "BIGINT"
-- memKind = "BOUNDED"
-- memoryOperationType = "BIGINT"
-- address = "BIGINT"
-- size = "BIGINT"
-- commHandle = "BIGINT"
-- tag = "BIGINT"
-- remoteRank = "BIGINT"
-- rootRank = "BIGINT"
SELECT
    $first + "row" AS id, coalesce(start, timestamp) AS start_ns,
    coalesce("end" - coalesce(start, timestamp), 0) AS dur_ns,
    (coalesce(globalTid, globalPid) >> 24) & 16777215 AS pid, globalTid & 16777215 AS tid,
    lower(regexp_replace("table", '^CUPTI_ACTIVITY_KIND_|_EVENTS$', '', 'g')) AS category,
    CASE
        WHEN n.value IS NOT NULL THEN n.value
        WHEN syncType IS NOT NULL THEN coalesce(['event', 'stream wait event', 'stream', 'context'][syncType],
            CAST(syncType AS VARCHAR)) || ' synchronization'
        ELSE lower(replace(regexp_replace("table", '^CUPTI_ACTIVITY_KIND_|_EVENTS$', '', 'g'), '_', ' '))
    END AS name,
    json_merge_patch('{}', to_json({
        device: deviceId, context: contextId, stream: streamId, correlation: correlationId, sync_type: syncType,
        event: eventId, event_sync: eventSyncId, overhead_type: overheadType, graph: graphId, graph_exec: graphExecId,
        original_graph: originalGraphId, graph_node: graphNodeId, original_graph_node: originalGraphNodeId,
        return_value: returnValue, bytes: coalesce(bytes, size), memory_kind: memKind, operation: memoryOperationType,
        address: address, communicator: commHandle, tag: tag, remote_rank: remoteRank, root_rank: rootRank
    })) AS args
FROM source LEFT JOIN string n ON n.id = nameId
WHERE coalesce(start, timestamp) IS NOT NULL
