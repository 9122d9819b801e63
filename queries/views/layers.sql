-- title = "layers"
-- doc = "Layers in order of their first operator, as modules, ranges or scopes name them. TensorFlow reads all variables and constants first, in no order: that is not yet their use."
-- [columns]
-- layer = "module, range or scope"
-- position = "place in the order of first use"
-- first_ns = "start of its first operator"
-- n_ops = "operators in it"
SELECT rank, layer, row_number() OVER (PARTITION BY rank ORDER BY first_ns, layer) AS position, first_ns, n_ops
FROM (
    SELECT rank, layer, count(*) AS n_ops, coalesce(min(start_ns) FILTER (NOT (ends_with(name, ':ReadVariableOp')
        OR ends_with(name, ':VariableV2') OR ends_with(name, ':Identity') OR ends_with(name, ':Const') OR ends_with(name, ':Shape'))),
        min(start_ns)) AS first_ns
    FROM raw.ops WHERE layer IS NOT NULL GROUP BY rank, layer
)
