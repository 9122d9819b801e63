-- title = "Kineto: memory copies and memsets"
-- doc = "The direction and the kinds of memory stand only in the name, as in `Memcpy HtoD (Pageable -> Device)`."
-- [args]
-- device = "BIGINT"
-- context = "BIGINT"
-- stream = "BIGINT"
-- fromDevice = "BIGINT"
-- toDevice = "BIGINT"
-- bytes = "BIGINT"
-- correlation = "BIGINT"
-- "External id" = "BIGINT"
SELECT
    id, start_ns, greatest(dur_ns, 0) AS dur_ns, name,
    args.device AS device,
    args.context AS context,
    args.stream AS stream,
    CASE
        WHEN contains(cat, 'memset') THEN 'memset'
        WHEN regexp_matches(name, 'HtoD|H2D|HostToDevice') THEN 'HtoD'
        WHEN regexp_matches(name, 'DtoH|D2H|DeviceToHost') THEN 'DtoH'
        WHEN regexp_matches(name, 'DtoD|D2D|DeviceToDevice') THEN 'DtoD'
        WHEN regexp_matches(name, 'PtoP|P2P|PeerToPeer') THEN 'PtoP'
        WHEN regexp_matches(name, 'HtoH|H2H|HostToHost') THEN 'HtoH'
        ELSE 'unknown'
    END AS direction,
    nullif(regexp_replace(lower(regexp_extract(name, '\(([\w ]+) -> [\w ]+\)', 1)),
        ' static$|^(unknown|unrecognized)$', ''), '') AS src_kind,
    nullif(regexp_replace(lower(regexp_extract(name, '(?: -> |^Memset \()([\w ]+)\)', 1)),
        ' static$|^(unknown|unrecognized)$', ''), '') AS dst_kind,
    args."fromDevice" AS src_device,
    args."toDevice" AS dst_device,
    args.bytes AS size_bytes,
    args.correlation AS correlation,
    args."External id" AS external_id
FROM event
WHERE goes_to = 'memcpys'
