-- title = "nvprof text: memory copies and memsets"
-- doc = "The direction stands in the name, as in `[CUDA memcpy HtoD]`; arrays count as device memory, as in CUPTI."
SELECT id, start_ns, dur_ns, name, correlation, device, context, stream, size_bytes, src_device, dst_device,
    CASE WHEN name LIKE '[CUDA memset%' THEN 'memset'
        ELSE coalesce(MAP {'HtoD': 'HtoD', 'DtoH': 'DtoH', 'DtoD': 'DtoD', 'PtoP': 'PtoP', 'HtoH': 'HtoH',
            'HtoA': 'HtoD',
            'AtoH': 'DtoH', 'AtoD': 'DtoD', 'DtoA': 'DtoD', 'AtoA': 'DtoD'}[regexp_extract(name, '(\w+)\]$', 1)],
                'unknown')
    END AS direction,
    CASE WHEN name LIKE '[CUDA memset%' THEN NULL WHEN name LIKE '[Unified%' THEN 'managed'
        WHEN regexp_matches(name, ' Ato.\]$') THEN 'array' ELSE memory[1] END AS src_kind,
    -- A fill names the memory it fills as its source.
    CASE WHEN name LIKE '[CUDA memset%' THEN coalesce(memory[2], memory[1]) WHEN name LIKE '[Unified%' THEN 'managed'
        WHEN regexp_matches(name, ' .toA\]$') THEN 'array' ELSE memory[2] END AS dst_kind
FROM activity WHERE "table" = 'memcpys'
