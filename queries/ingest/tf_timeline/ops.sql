-- title = "TensorFlow 1: operators as scheduled on the host"
-- doc = "Also those of the GPU device: the span is that of their launch."
SELECT id, start_ns, dur_ns, pid, tid, coalesce(op, name) AS name, regexp_replace(label, ' Compute$', '') AS backend
FROM placed WHERE goes = 'ops'
