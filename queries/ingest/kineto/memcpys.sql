-- title = "Kineto: copies and fills"
-- doc = "The direction and the kinds of memory stand only in the name, as in `Memcpy HtoD (Pageable -> Device)`."
SELECT
    id, start_ns, greatest(dur_ns, 0) AS dur_ns, name,
    TRY_CAST(args.device AS BIGINT) AS device,
    TRY_CAST(args.context AS BIGINT) AS context,
    TRY_CAST(args.stream AS BIGINT) AS stream,
    CASE
        WHEN contains(cat, 'memset') THEN 'memset'
        WHEN regexp_matches(name, 'HtoD|HostToDevice') THEN 'HtoD'
        WHEN regexp_matches(name, 'DtoH|DeviceToHost') THEN 'DtoH'
        WHEN regexp_matches(name, 'DtoD|DeviceToDevice') THEN 'DtoD'
        WHEN regexp_matches(name, 'PtoP|PeerToPeer') THEN 'PtoP'
        WHEN regexp_matches(name, 'HtoH|HostToHost') THEN 'HtoH'
        ELSE 'unknown'
    END AS direction,
    nullif(lower(regexp_extract(name, '\((\w+) -> \w+\)', 1)), '') AS src_kind,
    nullif(lower(coalesce(
        nullif(regexp_extract(name, '\(\w+ -> (\w+)\)', 1), ''),
        regexp_extract(name, '^Memset \((\w+)\)', 1))), '') AS dst_kind,
    TRY_CAST(args."fromDevice" AS BIGINT) AS src_device,
    TRY_CAST(args."toDevice" AS BIGINT) AS dst_device,
    TRY_CAST(args.bytes AS BIGINT) AS size_bytes,
    TRY_CAST(args.correlation AS BIGINT) AS correlation,
    TRY_CAST(args."External id" AS BIGINT) AS external_id
FROM event
WHERE ph = 'X' AND cat IN ('memcpy', 'gpu_memcpy', 'memset', 'gpu_memset')
    AND start_ns IS NOT NULL AND dur_ns IS NOT NULL
