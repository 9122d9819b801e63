-- title = "TensorFlow 1: the rows again, stream by stream"
-- doc = "Kept as spans of kind device, because they say which stream a kernel ran on."
SELECT id, start_ns, dur_ns, pid, tid, CASE WHEN goes = 'copies of rows' THEN 'device' ELSE 'user' END AS kind,
    coalesce(op, name) AS name, label AS domain
FROM placed WHERE goes IN ('copies of rows', 'other')
