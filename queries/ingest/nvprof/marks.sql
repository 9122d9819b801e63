-- title = "nvprof: NVTX marks, and ranges that nothing closed"
-- doc = "Everything of NVTX that is not a range."
-- into = "events"
-- tables = ["CUPTI_ACTIVITY_KIND_MARKER"]
SELECT
    m.id, m.start_ns, 0 AS dur_ns, m.pid, m.tid, 'nvtx' AS category,
    CASE WHEN flags & 1 = 1 THEN 'mark' ELSE 'open range' END AS phase, m.name,
    to_json({domain: m.domain}) AS args
FROM marker m LEFT JOIN stage.ranges r ON r.id = m.id
WHERE m.start_ns IS NOT NULL AND flags & 4 = 0 AND r.id IS NULL
