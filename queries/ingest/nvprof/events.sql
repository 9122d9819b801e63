-- title = "nvprof: synchronisation and overhead"
-- doc = "Kinds as CUPTI numbers them."
-- into = "events"
-- tables = ["CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "CUPTI_ACTIVITY_KIND_OVERHEAD"]
-- [params]
-- first = { type = "BIGINT", doc = "id of the first row" }
-- [source]
-- start = "BOUNDED"
-- end = "BOUNDED"
-- type = "BIGINT"
-- correlationId = "BIGINT"
-- contextId = "BIGINT"
-- streamId = "BIGINT"
-- cudaEventId = "BIGINT"
-- overheadKind = "BIGINT"
-- objectId = "VARCHAR"
SELECT
    $first + "row" AS id, start AS start_ns, "end" - start AS dur_ns,
    TRY_CAST('0x' || objectId[7:8] || objectId[5:6] || objectId[3:4] || objectId[1:2] AS BIGINT) AS pid,
    CASE "table" WHEN 'CUPTI_ACTIVITY_KIND_OVERHEAD' THEN 'overhead' ELSE 'synchronization' END AS category,
    CASE "table" WHEN 'CUPTI_ACTIVITY_KIND_OVERHEAD'
        THEN coalesce(map {1: 'driver compiler', 65536: 'buffer flush', 131072: 'instrumentation', 196608: 'resource'}
            [overheadKind], CAST(overheadKind AS VARCHAR)) || ' overhead'
        ELSE coalesce(['event', 'stream wait event', 'stream', 'context'][type], CAST(type AS VARCHAR))
            || ' synchronization'
    END AS name,
    json_merge_patch('{}', to_json({
        sync_type: type, correlation: correlationId, context: contextId, stream: streamId,
        event: nullif(cudaEventId, -1),
        overhead_kind: overheadKind
    })) AS args
FROM source WHERE start IS NOT NULL AND "end" <> 0
