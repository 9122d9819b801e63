-- title = "nsys: marks of CUDA events"
-- doc = """When the device reached them, where this version of nsys records that; else the calls that set them are
-- among the API calls, and nothing of them is missing."""
-- into = "events"
-- counts = false
-- tables = ["CUPTI_ACTIVITY_KIND_CUDA_EVENT"]
-- process = ["globalPid"]
-- [params]
-- first = { type = "BIGINT", doc = "id of the first row" }
-- [source]
-- timestamp = "BOUNDED"
-- globalPid = "BIGINT"
-- deviceId = "BIGINT"
-- contextId = "BIGINT"
-- streamId = "BIGINT"
-- correlationId = "BIGINT"
-- eventId = "BIGINT"
-- eventSyncId = "BIGINT"
SELECT $first + "row" AS id, timestamp AS start_ns, 0 AS dur_ns, (globalPid >> 24) & 16777215 AS pid,
    'cuda_event' AS category, 'cuda event' AS name,
    json_merge_patch('{}', to_json({device: deviceId, context: contextId, stream: streamId,
        correlation: correlationId, event: eventId, event_sync: eventSyncId})) AS args
FROM source
WHERE timestamp IS NOT NULL
