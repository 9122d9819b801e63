-- title = "nsys stats CSV: memory copies and memsets"
-- doc = "The direction stands in the name: `[CUDA memcpy HtoD]`, since 2023 `[CUDA memcpy Host-to-Device]`."
SELECT id, start_ns, dur_ns, name, correlation, device, context, stream, size_bytes,
    CASE WHEN name ILIKE '%memset%' THEN 'memset'
        WHEN regexp_matches(name, 'HtoD|Host-to-(Device|Array)|HtoA') THEN 'HtoD'
        WHEN regexp_matches(name, 'DtoH|(Device|Array)-to-Host|AtoH') THEN 'DtoH'
        WHEN regexp_matches(name, 'PtoP|Peer-to-Peer') THEN 'PtoP'
        WHEN regexp_matches(name, 'HtoH|Host-to-Host') THEN 'HtoH'
        WHEN regexp_matches(name, '[DA]to[DA]|(Device|Array)-to-(Device|Array)') THEN 'DtoD'
        ELSE 'unknown' END AS direction,
    CASE WHEN name NOT ILIKE '%memset%' THEN memory[1] END AS src_kind,
    -- A fill names the memory it fills as its source.
    CASE WHEN name ILIKE '%memset%' THEN coalesce(memory[2], memory[1]) ELSE memory[2] END AS dst_kind
FROM activity WHERE is_copy
