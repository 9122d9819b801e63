-- title = "nsys: fills"
-- doc = "A fill is a copy without a source."
-- into = "memcpys"
-- tables = ["CUPTI_ACTIVITY_KIND_MEMSET"]
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
-- bytes = "BIGINT"
-- memKind = "BOUNDED"
SELECT
    $first + "row" AS id, start AS start_ns, "end" - start AS dur_ns,
    deviceId AS device, contextId AS context, streamId AS stream, '[CUDA memset]' AS name, 'memset' AS direction,
    ['pageable', 'pinned', 'device', 'array', 'managed', 'device', 'managed'][memKind + 1] AS dst_kind,
    bytes AS size_bytes, correlationId AS correlation
FROM source WHERE start IS NOT NULL AND "end" <> 0
