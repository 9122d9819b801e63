-- title = "rpd: calls on the host"
-- doc = "Runtime calls, and roctx ranges under the name UserMarker with their text as arguments."
-- into = "temp"
-- counts = true
-- tables = ["rocpd_api"]
-- [params]
-- first = { type = "BIGINT", doc = "id of the first row" }
-- pid = { type = "BIGINT", doc = "only calls of this process are missed" }
-- is_first = { type = "BOOLEAN", doc = "so are those without a process" }
-- [source]
-- id = "BIGINT"
-- pid = "BIGINT"
-- tid = "BIGINT"
-- start = "BOUNDED"
-- end = "BOUNDED"
-- apiName_id = "BIGINT"
-- args_id = "BIGINT"
SELECT $first + "row" AS row_id, s.id, pid, tid, start AS start_ns, "end" AS end_ns, n.value AS name, a.value AS args,
    (start IS NULL OR "end" IS NULL) AND ($pid IS NULL OR coalesce(pid = $pid, $is_first)) AS is_lost
FROM source s LEFT JOIN string n ON n.id = apiName_id LEFT JOIN string a ON a.id = args_id
