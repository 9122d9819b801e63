-- title = "layers"
-- doc = "Layers in order of their first operator, as modules, ranges or scopes name them."
SELECT rank, layer, row_number() OVER (PARTITION BY rank ORDER BY min(start_ns), layer) AS position,
    min(start_ns) AS first_ns, count(*) AS n_ops
FROM raw.ops WHERE layer IS NOT NULL GROUP BY rank, layer
