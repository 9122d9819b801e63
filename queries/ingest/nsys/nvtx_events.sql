-- title = "nsys: NVTX marks, and ranges that nothing closed"
-- doc = "Everything of NVTX that is not a range. Definitions of domains and categories have no time of their own."
-- into = "events"
-- tables = ["NVTX_EVENTS"]
SELECT
    id, coalesce(start_ns, 0) AS start_ns, 0 AS dur_ns, pid, tid, 'nvtx' AS category,
    CASE
        WHEN type IN (34, 65) THEN 'mark' WHEN type IN (59, 60, 70, 71) THEN 'open range' WHEN type = 75 THEN 'domain'
        WHEN type = 33 THEN 'category' ELSE CAST(type AS VARCHAR)
    END AS phase,
    name, to_json({domain: domain, category: category, payload: payload}) AS args
FROM nvtx
WHERE NOT coalesce(type IN (59, 60, 70, 71) AND start_ns IS NOT NULL AND end_ns >= start_ns, false)
