-- title = "rpd: HIP calls"
-- doc = "A call's own number joins it to what it caused."
-- into = "api_calls"
-- tables = ["rocpd_api"]
-- [params]
-- pid = { type = "BIGINT", doc = "only calls of this process" }
SELECT row_id AS id, start_ns, end_ns - start_ns AS dur_ns, pid, tid, coalesce(name, '[Unknown]') AS name,
    CASE WHEN name LIKE 'hsa%' THEN 'driver' ELSE 'runtime' END AS kind, id AS correlation
FROM api
WHERE name IS DISTINCT FROM 'UserMarker' AND ($pid IS NULL OR pid = $pid) AND start_ns IS NOT NULL
    AND end_ns IS NOT NULL
