-- title = "rocprof JSON: events with their exact times"
-- doc = "The times of Chrome's format are whole microseconds; beside them stand nanoseconds."
SELECT *, TRY_CAST(args ->> '$.BeginNs' AS BIGINT) AS begin_ns, TRY_CAST(args ->> '$.EndNs' AS BIGINT) AS end_ns,
    TRY_CAST(coalesce(args ->> '$."dev-id"', args ->> '$."gpu-id"') AS BIGINT) AS device,
    TRY_CAST(args ->> '$."queue-id"' AS BIGINT) AS stream,
    json_exists(args, '$.args') AS is_call,
    -- What is copied, from where to where, and nothing else: kernels have names of their own.
    coalesce(regexp_matches(name, '(?i)^(hc|hip)?_?(copy|mem(cpy|set)|fill)'
        || '(_?(host|device|peer|to|[hd]to[hd]|[hd]2[hd]|buffer|rect|image|async|[123]d|d(8|16|32)|aligned))*$'), false)
        AS is_copy
FROM event
WHERE ph = 'X' AND TRY_CAST(args ->> '$.BeginNs' AS BIGINT) BETWEEN 0 AND 4000000000000000000
    AND TRY_CAST(args ->> '$.EndNs' AS BIGINT)
        BETWEEN 1 AND TRY_CAST(args ->> '$.BeginNs' AS BIGINT) + 604800000000000
