-- title = "XPlane: operators on host threads"
-- doc = """TensorFlow's `name:Type` and XLA's thunks, these under the name of the operator they were compiled from.
-- Until all are there, the module hierarchy is the operator whose module it is. An instruction that XLA made without a
-- name has its own behind the scope of what it works for; the gradient of a pooling is made of several such."""
SELECT id, start_ns, dur_ns, pid, line_id AS tid, coalesce(
        CASE WHEN xla_name IS NOT NULL OR is_tf_op THEN op
            WHEN regexp_matches(works_for, '/select_and_scatter\w*$') THEN works_for
            WHEN contains(works_for, '/') THEN regexp_replace(works_for, '[^/]*$', '') || name END,
        op, name) AS name, hlo_op, hlo_module, program AS hlo_program, hlo_kind,
    works_for AS module_hierarchy, shapes, inputs, types, output_shapes, call_stack, hlo_cost
FROM placed WHERE goes = 'ops'
