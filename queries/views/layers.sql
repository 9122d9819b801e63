-- title = "layers"
-- doc = "Layers in order of their first operator, as modules, ranges or scopes name them."
-- [columns]
-- layer = "module, range or scope"
-- position = "place in the order of first use"
-- first_ns = "start of its first operator"
-- n_ops = "operators in it"
SELECT rank, layer, row_number() OVER (PARTITION BY rank ORDER BY min(start_ns), layer) AS position,
    min(start_ns) AS first_ns, count(*) AS n_ops
FROM raw.ops WHERE layer IS NOT NULL GROUP BY rank, layer
