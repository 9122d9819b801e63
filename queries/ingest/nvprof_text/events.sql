-- title = "nvprof text: every other row"
-- doc = "Marks and ranges of NVTX, page faults of unified memory, OpenACC."
-- [params]
-- pid = { type = "BIGINT", doc = "process" }
SELECT id, start_ns, dur_ns, $pid AS pid,
    CASE WHEN name LIKE '[Unified%' THEN 'unified_memory' WHEN regexp_matches(name, '^\[(Marker|Range)') THEN 'nvtx'
        ELSE 'other' END AS category,
    name, to_json({'device': device, 'unified_memory': unified, 'address': address}) AS args
FROM activity WHERE "table" = 'events'
