-- title = "nvprof: copies"
-- doc = """MEMCPY2 holds the ones between devices. Kinds as CUPTI numbers them: 1 is pageable memory, one more than in
-- nsys."""
-- into = "memcpys"
-- tables = ["CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMCPY2"]
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
    id, start_ns, dur_ns, device, context, stream, '[CUDA memcpy ' || direction || ']' AS name, direction,
    ['pageable', 'pinned', 'device', 'array', 'managed', 'device', 'managed'][srcKind] AS src_kind,
    ['pageable', 'pinned', 'device', 'array', 'managed', 'device', 'managed'][dstKind] AS dst_kind,
    src_device, dst_device, size_bytes, correlation
FROM (
    SELECT
        $first + "row" AS id, start AS start_ns, "end" - start AS dur_ns,
        deviceId AS device, contextId AS context, streamId AS stream, srcKind, dstKind,
        CASE
            WHEN copyKind IN (1, 3) THEN 'HtoD' WHEN copyKind IN (2, 4) THEN 'DtoH'
            WHEN copyKind = 10 OR "table" = 'CUPTI_ACTIVITY_KIND_MEMCPY2' THEN 'PtoP'
            WHEN copyKind IN (5, 6, 7, 8) THEN 'DtoD' WHEN copyKind = 9 THEN 'HtoH' ELSE 'unknown'
        END AS direction,
        srcDeviceId AS src_device, dstDeviceId AS dst_device, bytes AS size_bytes, correlationId AS correlation
    FROM source WHERE start IS NOT NULL AND "end" <> 0
)
