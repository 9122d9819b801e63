-- title = "nsys: calls of cuDNN and cuBLAS"
-- doc = "The library's functions, as the host called them."
-- into = "ranges"
-- tables = ["CUDNN_EVENTS", "CUBLAS_EVENTS"]
-- process = ["globalTid"]
-- [params]
-- first = { type = "BIGINT", doc = "id of the first row" }
-- [source]
-- start = "BOUNDED"
-- end = "BOUNDED"
-- globalTid = "BIGINT"
-- nameId = "BIGINT"
SELECT
    $first + "row" AS id, start AS start_ns, "end" - start AS dur_ns,
    (globalTid >> 24) & 16777215 AS pid, globalTid & 16777215 AS tid, 'library' AS kind,
    coalesce(n.value, '[Unknown]') AS name, lower(replace("table", '_EVENTS', '')) AS domain
FROM source LEFT JOIN string n ON n.id = nameId
WHERE start IS NOT NULL AND "end" <> 0
