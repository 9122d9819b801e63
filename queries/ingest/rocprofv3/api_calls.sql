-- title = "rocprofv3: runtime and driver calls"
-- doc = "HIP is the runtime, HSA the driver below it."
SELECT
    r.id, r.start_timestamp AS start_ns, r.end_timestamp - r.start_timestamp AS dur_ns,
    CAST($pid AS BIGINT) AS pid, r.thread_id AS tid, o.name, r.correlation_id.internal AS correlation,
    CASE WHEN buffer = 'hsa_api' THEN 'driver' ELSE 'runtime' END AS kind
FROM record r LEFT JOIN operation o ON o.kind_number = TRY_CAST(r.kind AS BIGINT) AND o.operation = r.operation
WHERE buffer IN ('hip_api', 'hsa_api') AND r.start_timestamp IS NOT NULL AND r.end_timestamp <> 0
