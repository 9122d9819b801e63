-- doc = "No costs: the table that a trace without recorded arguments has."
SELECT CAST(NULL AS BIGINT) AS number, CAST(NULL AS VARCHAR) AS model, CAST(NULL AS VARCHAR) AS family,
    CAST(NULL AS VARCHAR) AS direction, CAST(NULL AS VARCHAR) AS dtype, CAST(NULL AS BIGINT) AS matrix_flop,
    CAST(NULL AS BIGINT) AS executed_flop, CAST(NULL AS BIGINT) AS vector_flop, CAST(NULL AS BIGINT) AS bytes,
    CAST(NULL AS VARCHAR) AS how, CAST(NULL AS VARCHAR) AS reason
WHERE false
