-- doc = "No different primitives: the table of a trace without calls of oneDNN, as `primitives` would make it."
SELECT CAST(NULL AS VARCHAR) AS name, CAST(NULL AS BIGINT[]) AS ids, CAST(NULL AS BIGINT[][]) AS sizes,
    CAST(NULL AS VARCHAR[]) AS kinds, CAST(NULL AS VARCHAR[]) AS said
WHERE false
