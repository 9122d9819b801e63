-- title = "Collected operators: operators"
-- doc = """Shapes are those of a convolution's image, filter and result in the forward pass, channels first; inputs are
-- stride, padding, dilation and groups."""
SELECT id, start_ns, dur_ns, pid, tid, name, args ->> '$.layer' AS module_hierarchy, args ->> '$.shapes' AS shapes,
    args ->> '$.output_shapes' AS output_shapes, args ->> '$.inputs' AS inputs, args ->> '$.types' AS types
FROM event WHERE ph = 'X' AND cat = 'operator' AND start_ns IS NOT NULL AND dur_ns IS NOT NULL
