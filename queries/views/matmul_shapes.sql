-- doc = """Matrix products of operators that record shapes: batch times m x k by k x n, FLOPs, and the elements of
-- second factor and added vector (the parameters of a fully connected layer's forward pass)."""
-- [columns]
-- op_id = "the operator"
-- rank = "process of the job"
-- name = "name of the operator"
-- layer = "layer it ran for"
-- step = "training step"
-- is_backward = "whether it ran for the backward pass"
-- batch = "products"
-- m = "rows of one product"
-- n = "columns of one product"
-- k = "summed dimension"
-- dtype = "type of the first factor"
-- flop = "multiplications and additions"
-- parameters = """elements of the second factor and the added vector: the parameters of a fully connected layer's
-- forward pass"""
WITH product AS MATERIALIZED (
    -- By name first: every operator and the one around it would be two of the largest tables joined.
    SELECT o.id, o.rank, o.name, o.layer, o.step, o.is_backward, o.parent_id, o.shapes, o.types,
        p.a, p.b, p.bias, p.b_is_transposed
    FROM raw.ops o JOIN names.matmul p ON p.name = o.name
), recorded AS (
    SELECT o.id AS op_id, o.rank, o.name, o.layer, o.step, o.is_backward,
        TRY_CAST(json_extract(o.shapes, '$[' || o.a || ']') AS BIGINT[]) AS a,
        TRY_CAST(json_extract(o.shapes, '$[' || o.b || ']') AS BIGINT[]) AS b,
        TRY_CAST(json_extract(o.shapes, '$[' || o.bias || ']') AS BIGINT[]) AS bias,
        json_extract_string(o.types, '$[' || o.a || ']') AS dtype,
        coalesce(o.b_is_transposed, false) AS b_is_transposed
    FROM product o LEFT JOIN product above ON above.id = o.parent_id
    WHERE o.shapes IS NOT NULL AND above.id IS NULL
), sized AS (
    SELECT *, if(len(a) = 3, a[1], 1) AS batch, a[-2] AS m, a[-1] AS k,
        if(b_is_transposed, b[1], b[-1]) AS n
    FROM recorded WHERE len(a) >= 2 AND len(b) >= 2
)
SELECT op_id, rank, name, layer, step, is_backward, batch, m, n, k, dtype,
    -- A damaged number is not a size: TRY.
    TRY(CAST(2 * CAST(batch AS HUGEINT) * m * n * k AS BIGINT)) AS flop,
    TRY_CAST(list_product(b) + if(len(bias) = 1, bias[1], 0) AS BIGINT) AS parameters
FROM sized
