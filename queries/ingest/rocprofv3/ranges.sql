-- title = "rocprofv3: roctx ranges"
-- doc = "Marks of the program; without a recorded text the name of the call stands in."
SELECT
    r.id, r.start_timestamp AS start_ns, r.end_timestamp - r.start_timestamp AS dur_ns,
    CAST($pid AS BIGINT) AS pid, r.thread_id AS tid, 'nvtx' AS kind, coalesce(m.text, o.name) AS name, 'roctx' AS domain
FROM record r
LEFT JOIN operation o ON o.kind_number = TRY_CAST(r.kind AS BIGINT) AND o.operation = r.operation
LEFT JOIN marker m ON m.correlation = r.correlation_id.internal
WHERE kept_under = 'marker_api' AND r.start_timestamp IS NOT NULL AND r.end_timestamp IS NOT NULL
