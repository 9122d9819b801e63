-- title = "rocprofv3: everything else"
-- doc = """Allocations, scratch memory, RCCL, video decoding, samples: with the whole record. Of roctx the marks and
-- the calls that open no range."""
SELECT
    r.id, coalesce(r.start_timestamp, r.timestamp) AS start_ns,
    coalesce(r.end_timestamp - r.start_timestamp, 0) AS dur_ns, CAST($pid AS BIGINT) AS pid, r.thread_id AS tid,
    buffer AS category, o.kind AS phase, coalesce(m.text, o.name) AS name, r.line AS args
FROM record r
LEFT JOIN operation o ON o.kind_number = TRY_CAST(r.kind AS BIGINT) AND o.operation = r.operation
LEFT JOIN marker m ON buffer = 'marker_api' AND m.correlation = r.correlation_id.internal
WHERE (buffer NOT IN ('kernel_dispatch', 'memory_copy', 'hip_api', 'hsa_api', 'marker_api')
        OR (buffer = 'marker_api' AND r.end_timestamp <> 0
            AND NOT coalesce(contains(o.name, 'Range'), true)))
    AND coalesce(r.start_timestamp, r.timestamp) IS NOT NULL
