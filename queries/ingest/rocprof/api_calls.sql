-- title = "rocprof: calls of HIP and HSA"
-- doc = "No number joins a call to what it caused in all versions, so none does."
-- into = "api_calls"
-- tables = ["HIP", "HSA", "KFD"]
-- [params]
-- first = { type = "BIGINT", doc = "id of the first row" }
-- [source]
-- BeginNs = "BOUNDED"
-- EndNs = "BOUNDED"
-- Name = "NAME"
-- pid = "BIGINT"
-- tid = "BIGINT"
SELECT $first + "row" AS id, BeginNs AS start_ns, EndNs - BeginNs AS dur_ns, pid, tid,
    trim(coalesce(Name, '[Unknown]'), '"') AS name, if("table" = 'HIP', 'runtime', 'driver') AS kind
FROM source
WHERE BeginNs IS NOT NULL AND EndNs <> 0
