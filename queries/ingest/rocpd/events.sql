-- title = "rocpd: other regions"
-- doc = "Calls of libraries, page migrations and whatever else was traced."
-- into = "events"
-- tables = ["rocpd_region"]
SELECT id, start_ns, coalesce(dur_ns, 0) AS dur_ns, pid, tid, lower(category) AS category, name
FROM region
WHERE start_ns IS NOT NULL AND NOT (dur_ns IS NOT NULL AND (category LIKE 'HIP%' OR category LIKE 'HSA%' OR category LIKE 'MARKER%'))
