-- title = "Perfetto: copies and memsets"
-- doc = "The direction stands in the name."
SELECT id, start_ns, dur_ns, name,
    device, stream,
    CASE WHEN cat = 'gpu_memset' OR contains(lower(name), 'memset') THEN 'memset'
        WHEN regexp_matches(name, '(?i)HtoD|H2D|HOST_?TO_?DEVICE') THEN 'HtoD'
        WHEN regexp_matches(name, '(?i)DtoH|D2H|DEVICE_?TO_?HOST') THEN 'DtoH'
        WHEN regexp_matches(name, '(?i)DtoD|D2D|DEVICE_?TO_?DEVICE') THEN 'DtoD'
        WHEN regexp_matches(name, '(?i)PtoP|P2P|PEER_?TO_?PEER') THEN 'PtoP'
        WHEN regexp_matches(name, '(?i)HtoH|H2H|HOST_?TO_?HOST') THEN 'HtoH' ELSE 'unknown' END AS direction,
    coalesce(TRY_CAST(json_extract_string(args, '$.bytes') AS BIGINT),
        TRY_CAST(json_extract_string(args, '$.copy_bytes') AS BIGINT),
        TRY_CAST(json_extract_string(args, '$.size_bytes') AS BIGINT)) AS size_bytes,
    TRY_CAST(json_extract_string(args, '$.correlation') AS BIGINT) AS correlation
FROM event WHERE ph = 'X' AND dur_ns IS NOT NULL AND goes_to = 'memcpys'
