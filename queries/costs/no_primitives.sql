-- doc = "No primitives: the table of a trace without calls of oneDNN."
SELECT CAST(NULL AS BIGINT) AS id, CAST(NULL AS VARCHAR) AS op_name, CAST(NULL AS VARCHAR) AS direction,
    CAST(NULL AS BIGINT) AS number
WHERE false
