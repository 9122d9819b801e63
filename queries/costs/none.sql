-- doc = "No calls: the table that a trace without recorded arguments has."
SELECT CAST(NULL AS BIGINT) AS op_id, CAST(NULL AS BIGINT) AS rank, CAST(NULL AS BIGINT) AS pid,
    CAST(NULL AS BIGINT) AS tid, CAST(NULL AS BIGINT) AS start_ns, CAST(NULL AS BIGINT) AS end_ns,
    CAST(NULL AS VARCHAR) AS model, CAST(NULL AS VARCHAR) AS family, CAST(NULL AS VARCHAR) AS direction,
    CAST(NULL AS VARCHAR) AS dtype, CAST(NULL AS BIGINT) AS matrix_flop, CAST(NULL AS BIGINT) AS executed_flop,
    CAST(NULL AS BIGINT) AS vector_flop, CAST(NULL AS BIGINT) AS bytes, CAST(NULL AS VARCHAR) AS how,
    CAST(NULL AS VARCHAR) AS reason, CAST(NULL AS BOOLEAN) AS is_backward, CAST(NULL AS BOOLEAN) AS is_recompute
WHERE false
