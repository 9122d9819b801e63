-- title = "rocprofv3: copies"
-- doc = """The operation is the direction. The device is the GPU at either end, the target first; a copy within the
-- host has none. Copies have no queue, and numbers of HIP streams are none of queues."""
SELECT
    r.id, r.start_timestamp AS start_ns, r.end_timestamp - r.start_timestamp AS dur_ns, o.name,
    CASE WHEN target.is_gpu THEN target.device WHEN source.is_gpu THEN source.device END AS device,
    CASE regexp_replace(o.name, '^MEMORY_COPY_', '') WHEN 'HOST_TO_DEVICE' THEN 'HtoD' WHEN 'DEVICE_TO_HOST' THEN 'DtoH'
        WHEN 'HOST_TO_HOST' THEN 'HtoH'
        WHEN 'DEVICE_TO_DEVICE' THEN CASE WHEN source.handle <> target.handle THEN 'PtoP' ELSE 'DtoD' END
        ELSE 'unknown' END AS direction,
    CASE WHEN source.is_gpu THEN source.device END AS src_device, CASE
        WHEN target.is_gpu THEN target.device END AS dst_device,
    r.bytes AS size_bytes, r.correlation_id.internal AS correlation
FROM record r
LEFT JOIN agent source ON source.handle = r.src_agent_id.handle
LEFT JOIN agent target ON target.handle = r.dst_agent_id.handle
LEFT JOIN operation o ON o.kind_number = TRY_CAST(r.kind AS BIGINT) AND o.operation = r.operation
WHERE buffer = 'memory_copy' AND r.start_timestamp IS NOT NULL AND r.end_timestamp <> 0
