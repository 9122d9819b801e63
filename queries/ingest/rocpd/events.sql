-- title = "rocpd: other regions"
-- doc = "Calls of libraries, marks, page migrations and whatever else was traced."
-- into = "events"
-- tables = ["rocpd_region"]
SELECT id, start_ns, coalesce(dur_ns, 0) AS dur_ns, pid, tid, lower(category) AS category,
    if(category LIKE 'MARKER%', coalesce(message, name), name) AS name
FROM (SELECT *, regexp_matches(name, '^roctx(Mark|Prof|Name|Get)') AS is_call FROM region)
WHERE start_ns IS NOT NULL
    AND NOT (dur_ns IS NOT NULL AND (category LIKE 'HIP%' OR category LIKE 'HSA%' OR category LIKE 'MARKER%'
    AND NOT is_call))
