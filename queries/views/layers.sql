-- doc = """Layers in order of their first operator, as modules, ranges or scopes name them. TensorFlow reads all
-- variables and constants first, and Theano turns and cuts them, in no order: that is not yet their use. Where none
-- are recorded, those of guessed_layers and guessed_linears."""
-- materialize = true
-- [columns]
-- layer = "module, range or scope"
-- position = "place in the order of first use"
-- first_ns = "start of its first operator"
-- n_ops = "operators in it"
SELECT rank, layer, row_number() OVER (PARTITION BY rank ORDER BY first_ns, layer) AS position, first_ns, n_ops
FROM (
    SELECT rank, layer, 0 AS n_ops, min(start_ns) AS first_ns FROM guessed_layers GROUP BY rank, layer
    UNION ALL BY NAME
    SELECT rank, layer, 0 AS n_ops, min(first_ns) AS first_ns FROM guessed_linears GROUP BY rank, layer
    UNION ALL BY NAME
    SELECT rank, layer, count(*) AS n_ops, coalesce(min(start_ns) FILTER (NOT regexp_matches(name,
        ':(ReadVariableOp|VariableV2|Identity|Const|Shape)$|^(InplaceDimShuffle|Shape_i|Subtensor)\{')),
            min(start_ns)) AS first_ns
    FROM raw.ops WHERE layer IS NOT NULL GROUP BY rank, layer
)
