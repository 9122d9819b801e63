-- title = "XPlane: operators on host threads"
-- doc = "TensorFlow's `name:Type` and XLA's thunks, these under the name of the operator they were compiled from."
SELECT id, start_ns, dur_ns, pid, line_id AS tid, coalesce(op, name) AS name, hlo_op, hlo_module
FROM placed WHERE goes = 'ops'
