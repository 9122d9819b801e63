-- title = "rocpd: HIP and HSA calls"
-- doc = "Everything below HIP counts as the driver."
-- into = "api_calls"
-- tables = ["rocpd_region"]
SELECT id, start_ns, dur_ns, pid, tid, name, CASE WHEN category LIKE 'HSA%' THEN 'driver' ELSE 'runtime' END AS kind,
    correlation
FROM region
WHERE (category LIKE 'HIP%' OR category LIKE 'HSA%') AND start_ns IS NOT NULL AND dur_ns IS NOT NULL
