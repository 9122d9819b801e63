-- title = "rocprofv3: everything else"
-- doc = "Allocations, scratch memory, RCCL, video decoding, samples: with the whole record."
SELECT
    r.id, coalesce(r.start_timestamp, r.timestamp) AS start_ns,
    coalesce(r.end_timestamp - r.start_timestamp, 0) AS dur_ns, CAST($pid AS BIGINT) AS pid, r.thread_id AS tid,
    kept_under AS category, o.kind AS phase, o.name, r.line AS args
FROM record r LEFT JOIN operation o ON o.kind_number = TRY_CAST(r.kind AS BIGINT) AND o.operation = r.operation
WHERE kept_under NOT IN ('kernel_dispatch', 'memory_copy', 'hip_api', 'hsa_api', 'marker_api')
    AND coalesce(r.start_timestamp, r.timestamp) IS NOT NULL
