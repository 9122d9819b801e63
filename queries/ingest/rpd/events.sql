-- title = "rpd: barriers and other work"
-- doc = "Work on a device that is neither a kernel nor a copy."
-- into = "events"
-- tables = ["rocpd_op"]
SELECT id, start_ns, coalesce(end_ns - start_ns, 0) AS dur_ns, 'device' AS category, type AS phase, name,
    to_json({device: device, stream: stream}) AS args
FROM op
WHERE start_ns IS NOT NULL
    AND NOT coalesce(end_ns IS NOT NULL AND (type IN ('KernelExecution', 'Task') OR type LIKE 'Copy%'
    OR type LIKE 'Fill%' OR type LIKE 'Memset%'), false)
