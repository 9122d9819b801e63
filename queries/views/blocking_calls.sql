-- doc = "Calls of the runtime that keep the host: they allocate or free device memory, or wait for the device."
-- materialize = true
-- empty_without = ["raw.api_calls"]
-- types = """id BIGINT, rank INTEGER, pid BIGINT, tid BIGINT, op_id BIGINT, step BIGINT, name VARCHAR, start_ns BIGINT,
-- dur_ns BIGINT, end_ns BIGINT, cause VARCHAR"""
-- [columns]
-- cause = "allocation or synchronisation"
SELECT id, rank, pid, tid, op_id, step, name, start_ns, dur_ns, start_ns + dur_ns AS end_ns, cause
FROM (SELECT *, CASE
    WHEN regexp_matches(name, '^(cuda|hip)(Malloc|Free)(_v\d+|Managed)?$|^cuMem(Alloc|Free)(_v2|Managed)?$')
        THEN 'allocation'
    WHEN regexp_matches(name, '(?i)(stream|device|ctx|context|event|thread)synchronize')
        OR regexp_matches(name, '(?i)^(cuda|hip|cu)Memcpy([23]D|2DUnaligned|Param2D|WithStream|HtoD|DtoH|HtoA|AtoH'
            || '|(2D)?(To|From)(Array|Symbol))?(_ptds|_spt|_v\d+)*$')
        THEN 'synchronisation' END AS cause FROM raw.api_calls
    WHERE name ILIKE '%alloc%' OR name ILIKE '%free%' OR name ILIKE '%synchronize%' OR name ILIKE '%memcpy%')
WHERE cause IS NOT NULL
