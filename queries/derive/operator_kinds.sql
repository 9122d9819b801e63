-- title = "What kind of computation each operator is, and of which pass, by its name"
-- doc = """Operators are named after what they call; TensorFlow's type stands behind the colon. `family` and `pass` are
-- those of `primitive_kinds`; `calls_products`: not an operator of oneDNN, whose convolutions are not products."""
SELECT id,
    CASE
        WHEN regexp_matches(type, '(?i)conv(olution|[1-3]d|nd|transpose|_|$)') THEN 1
        WHEN regexp_matches(type, '(?i)matmul|inner_?product|linear|gemm|einsum|dense|fully_?connected') THEN 2
        WHEN regexp_matches(type, '(^|[:_])(add|badd)?b?mm(_|$)') THEN 2
        WHEN regexp_matches(type, '(?i)pool') THEN 3
        WHEN regexp_matches(type, '(?i)batch_?norm|layer_?norm') THEN 4
        WHEN regexp_matches(type, '(?i)lrn|local_?response') THEN 5
        WHEN regexp_matches(type, '(?i)softmax') THEN 6
    END AS family,
    CASE WHEN regexp_matches(type, '(?i)backprop_?input|backward_?(input|data)') THEN 2
        WHEN regexp_matches(type, '(?i)backprop_?filter|backward_?(weight|filter)') THEN 3
        WHEN NOT regexp_matches(type, '(?i)back|grad') THEN 1 END AS pass,
    NOT regexp_matches(type, '(?i)mkl|onednn') AS calls_products, dense_rank() OVER (ORDER BY name) AS name
FROM (SELECT id, name, regexp_replace(name, '^[^:]*:([A-Za-z_][A-Za-z0-9_]*)$', '\1') AS type FROM stage.ops)
