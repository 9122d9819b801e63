-- title = "ONNX Runtime: copies"
-- doc = "Events of the category Kernel, named after their direction (MemcpyHostToDevice); sizes are not recorded."
SELECT
    id, start_ns, dur_ns, name, coalesce(TRY_CAST(args ->> '$.device' AS BIGINT), 0) AS device,
    TRY_CAST(args ->> '$.stream' AS BIGINT) AS stream,
    CASE
        WHEN starts_with(name, 'MemcpyHostToDevice') THEN 'HtoD'
            WHEN regexp_matches(name, '^MemcpyDevice\w*ToHost$') THEN 'DtoH'
        WHEN regexp_matches(name, '^MemcpyDevice\w*ToDevice') THEN 'DtoD' WHEN name = 'MemcpyHostToHost' THEN 'HtoH'
        WHEN starts_with(name, 'MemcpyPeerToPeer') THEN 'PtoP' ELSE 'unknown'
    END AS direction,
    TRY_CAST(args ->> '$.correlation_id' AS BIGINT) AS correlation,
    regexp_replace(args ->> '$.op_name', '_kernel_time$', '') AS recorded_op
FROM event
WHERE ph = 'X' AND cat = 'Kernel' AND start_ns IS NOT NULL AND dur_ns IS NOT NULL
    AND coalesce(regexp_matches(name, '^Memcpy\w+To[A-Z]\w+$'), false)
