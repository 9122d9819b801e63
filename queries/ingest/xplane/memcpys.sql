-- title = "XPlane: memory copies and memsets"
-- doc = """The direction stands in the name (MemcpyH2D), size and kinds of memory in the details; that of a TPU in the
-- instruction, which waits for the copy or starts it."""
SELECT
    id, start_ns, dur_ns, device, name, correlation, op AS recorded_op,
    TRY_CAST(context AS BIGINT) AS context,
    coalesce(TRY_CAST(regexp_extract(line_name, '^Stream #(\d+)', 1) AS BIGINT), line_id) AS stream,
    CASE
        WHEN host_copy IS NOT NULL THEN host_copy
        WHEN memset_details IS NOT NULL OR name LIKE 'Memset%' THEN 'memset'
        WHEN regexp_matches(name, '(?i)H(ost)?(2|to)D') THEN 'HtoD'
        WHEN regexp_matches(name, '(?i)D(evice)?(2|to)H') THEN 'DtoH'
        WHEN regexp_matches(name, '(?i)D(evice)?(2|to)D') THEN 'DtoD'
        WHEN regexp_matches(name, '(?i)P(eer)?(2|to)P') THEN 'PtoP'
        WHEN regexp_matches(name, '(?i)H(ost)?(2|to)H') THEN 'HtoH'
        ELSE 'unknown'
    END AS direction,
    nullif(regexp_replace(lower(regexp_extract(memcpy_details, 'kind_src:(\w+)', 1)), '_static$|^unknown$', ''),
        '') AS src_kind,
    nullif(regexp_replace(lower(coalesce(nullif(regexp_extract(memcpy_details, 'kind_dst:(\w+)', 1), ''),
        regexp_extract(memset_details, 'kind:(\w+)', 1))), '_static$|^unknown$', ''), '') AS dst_kind,
    CASE WHEN regexp_matches(name, '(?i)P(eer)?(2|to)P') THEN device END AS src_device,
    CASE WHEN regexp_matches(name, '(?i)P(eer)?(2|to)P')
        THEN TRY_CAST(regexp_extract(memcpy_details, 'dest:(\d+)', 1) AS BIGINT) END AS dst_device,
    TRY_CAST(regexp_extract(coalesce(memcpy_details, memset_details), '(?:size|num_bytes):(\d+)',
        1) AS BIGINT) AS size_bytes
FROM placed WHERE goes = 'memcpys'
