-- title = "TensorFlow 1: the rows again, stream by stream, and the collector's steps"
-- doc = "Rows are kept as spans of kind device, because they say which stream a kernel ran on."
SELECT id, start_ns, dur_ns, pid, tid,
    CASE WHEN cat = 'traceview step' THEN 'step' WHEN goes = 'copies of rows' THEN 'device' ELSE 'user' END AS kind,
    CASE WHEN cat = 'traceview step' THEN name ELSE coalesce(op, name) END AS name, coalesce(label, cat) AS domain
FROM placed WHERE goes IN ('copies of rows', 'other')
