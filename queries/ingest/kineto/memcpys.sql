-- title = "Kineto: memory copies and memsets"
-- doc = """The direction and the kinds of memory stand only in the name, as in `Memcpy HtoD (Pageable -> Device)`. An
-- XPU's driver calls what it did not allocate memory, as in `Memcpy M2D (MEMORY(Unknown) -> DEVICE)`: pageable memory
-- of the host. A `dma_request` of an MTIA device has its direction, as HOST_TO_DEVICE, and its size in arguments."""
-- [args]
-- device = "BIGINT"
-- context = "BIGINT"
-- stream = "BIGINT"
-- fromDevice = "BIGINT"
-- toDevice = "BIGINT"
-- bytes = "BIGINT"
-- size = "BIGINT"
-- direction = "VARCHAR"
-- correlation = "BIGINT"
-- "External id" = "BIGINT"
SELECT
    id, start_ns, greatest(dur_ns, 0) AS dur_ns, name,
    args.device AS device,
    args.context AS context,
    args.stream AS stream,
    CASE
        WHEN contains(cat, 'memset') THEN 'memset'
        WHEN regexp_matches(told, 'HtoD|[HM]2D|HostToDevice|HOST_TO_DEVICE') THEN 'HtoD'
        WHEN regexp_matches(told, 'DtoH|D2[HM]|DeviceToHost|DEVICE_TO_HOST') THEN 'DtoH'
        WHEN regexp_matches(told, 'DtoD|D2D|DeviceToDevice|DEVICE_TO_DEVICE') THEN 'DtoD'
        WHEN regexp_matches(told, 'PtoP|P2P|PeerToPeer') THEN 'PtoP'
        WHEN regexp_matches(told, 'HtoH|[HM]2[HM]|HostToHost') THEN 'HtoH'
        ELSE 'unknown'
    END AS direction,
    nullif(regexp_replace(replace(lower(regexp_extract(name, '\(((?:[\w ]|\(\w+\))+) -> ', 1)),
        'memory(unknown)', 'pageable'), ' static$|^(unknown|unrecognized)$', ''), '') AS src_kind,
    nullif(regexp_replace(replace(lower(regexp_extract(name, '(?: -> |^Memset \()((?:[\w ]|\(\w+\))+)\)', 1)),
        'memory(unknown)', 'pageable'), ' static$|^(unknown|unrecognized)$', ''), '') AS dst_kind,
    args."fromDevice" AS src_device,
    args."toDevice" AS dst_device,
    coalesce(args.bytes, args.size) AS size_bytes,
    args.correlation AS correlation,
    args."External id" AS external_id
FROM (SELECT *, if(name = 'dma_request', args.direction, name) AS told FROM event WHERE goes_to = 'memcpys')
