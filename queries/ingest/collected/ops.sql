-- title = "Collected runs: operators with what the collector saw of the model"
-- doc = """Shapes of convolutions and Python frames from the graph, by the operator's name; and the model's own name of
-- a layer, the innermost one around, instead of the scope that TensorFlow made for it."""
WITH named AS (
    SELECT DISTINCT name, regexp_replace(regexp_replace(name, '^((Stateful)?PartitionedCall(_\d+)?/)*', ''),
        ':[A-Za-z_]\w*$', '') AS node
    FROM stage.ops
), layered AS (
    SELECT DISTINCT ON (m.module_hierarchy) m.module_hierarchy, l.layer
    FROM (SELECT DISTINCT module_hierarchy FROM stage.ops) m
    JOIN collected_layer l ON m.module_hierarchy = l.scope OR starts_with(m.module_hierarchy, l.scope || '/')
    ORDER BY m.module_hierarchy, length(l.scope) DESC
)
SELECT o.* REPLACE (
    coalesce(l.layer, o.module_hierarchy) AS module_hierarchy,
    coalesce(o.call_stack, nullif(s.stack, '')) AS call_stack,
    coalesce(o.shapes, c.shapes) AS shapes, coalesce(o.inputs, c.inputs) AS inputs,
    coalesce(o.types, c.types) AS types, coalesce(o.output_shapes, c.output_shapes) AS output_shapes)
FROM stage.ops o
LEFT JOIN named n ON n.name IS NOT DISTINCT FROM o.name
LEFT JOIN collected_convolution c ON c.node = n.node AND regexp_matches(o.name, ':\w*Conv\w*$')
LEFT JOIN collected_line s ON s.node = n.node
LEFT JOIN layered l ON l.module_hierarchy = o.module_hierarchy
