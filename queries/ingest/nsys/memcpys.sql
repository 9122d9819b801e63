-- title = "nsys: copies"
-- doc = """Kinds as in ENUM_CUDA_MEMCPY_OPER and ENUM_CUDA_MEM_KIND: arrays are device memory, 11 to 13 are migrations
-- of managed memory."""
-- into = "memcpys"
-- tables = ["CUPTI_ACTIVITY_KIND_MEMCPY"]
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
-- copyKind = "BIGINT"
-- srcKind = "BOUNDED"
-- dstKind = "BOUNDED"
-- srcDeviceId = "BIGINT"
-- dstDeviceId = "BIGINT"
SELECT
    id, start_ns, dur_ns, device, context, stream,
    '[CUDA memcpy ' || direction || ']' AS name, direction,
    ['pageable', 'pinned', 'device', 'array', 'managed', 'device', 'managed'][srcKind + 1] AS src_kind,
    ['pageable', 'pinned', 'device', 'array', 'managed', 'device', 'managed'][dstKind + 1] AS dst_kind,
    src_device, dst_device, size_bytes, correlation
FROM (
    SELECT
        $first + "row" AS id, start AS start_ns, "end" - start AS dur_ns,
        deviceId AS device, contextId AS context, streamId AS stream, srcKind, dstKind,
        CASE
            WHEN copyKind IN (1, 3, 11) THEN 'HtoD' WHEN copyKind IN (2, 4, 12) THEN 'DtoH'
            WHEN copyKind IN (5, 6, 7, 8, 13) THEN 'DtoD' WHEN copyKind = 9 THEN 'HtoH' WHEN copyKind = 10 THEN 'PtoP'
            ELSE 'unknown'
        END AS direction,
        srcDeviceId AS src_device, dstDeviceId AS dst_device, bytes AS size_bytes, correlationId AS correlation
    FROM source WHERE start IS NOT NULL AND "end" <> 0
)
