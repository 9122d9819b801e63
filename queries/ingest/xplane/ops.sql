-- title = "XPlane: operators on host threads"
-- doc = """TensorFlow's `name:Type` and XLA's thunks, these under the name of the operator they were compiled from.
-- Until all are there, the module hierarchy is the operator whose module it is."""
SELECT id, start_ns, dur_ns, pid, line_id AS tid, coalesce(op, name) AS name, hlo_op, hlo_module, hlo_kind,
    works_for AS module_hierarchy, shapes, inputs, types, output_shapes
FROM placed WHERE goes = 'ops'
