-- doc = "No calls: the table that a trace without recorded arguments has."
SELECT CAST(NULL AS BIGINT) AS op_id, CAST(NULL AS INTEGER) AS rank, CAST(NULL AS BIGINT) AS pid,
    CAST(NULL AS BIGINT) AS tid, CAST(NULL AS BIGINT) AS start_ns, CAST(NULL AS BIGINT) AS end_ns,
    CAST(NULL AS BIGINT) AS number, CAST(NULL AS BOOLEAN) AS is_backward, CAST(NULL AS BOOLEAN) AS is_recompute
WHERE false
