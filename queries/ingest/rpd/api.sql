-- title = "rpd: calls on the host"
-- doc = "Runtime calls, and roctx ranges under the name UserMarker with their text as arguments."
-- into = "temp"
-- tables = ["rocpd_api"]
-- [params]
-- first = { type = "BIGINT", doc = "id of the first row" }
-- [source]
-- id = "BIGINT"
-- pid = "BIGINT"
-- tid = "BIGINT"
-- start = "BOUNDED"
-- end = "BOUNDED"
-- apiName_id = "BIGINT"
-- args_id = "BIGINT"
SELECT $first + "row" AS row_id, s.id, pid, tid, start AS start_ns, "end" AS end_ns, n.value AS name, a.value AS args
FROM source s LEFT JOIN string n ON n.id = apiName_id LEFT JOIN string a ON a.id = args_id
