-- title = "rocprof JSON: calls of HIP and HSA"
-- doc = "Events with arguments of a call."
SELECT id, begin_ns AS start_ns, end_ns - begin_ns AS dur_ns, pid, tid, name,
    if(starts_with(name, 'hip') OR starts_with(name, '__hip'), 'runtime', 'driver') AS kind
FROM (SELECT * REPLACE (coalesce(TRY_CAST(args ->> '$.pid' AS BIGINT), pid) AS pid) FROM exact)
WHERE is_call AND device IS NULL
