-- doc = """Matrix products of operators that record shapes, as op_costs counts them: batch times m x k by k x n, FLOPs,
-- and the elements of second factor and added vector (the parameters of a fully connected layer's forward pass)."""
-- [columns]
-- op_id = "the operator"
-- rank = "process of the job"
-- name = "name of the operator"
-- layer = "layer it ran for"
-- step = "training step"
-- is_backward = "whether it is an operator of a gradient, or inside one"
-- batch = "products"
-- m = "rows of one product"
-- n = "columns of one product"
-- k = "summed dimension"
-- dtype = "type of the first factor"
-- flop = "multiplications and additions"
-- parameters = """elements of the second factor and the added vector: the parameters of a fully connected layer's
-- forward pass"""
WITH recorded AS (
    SELECT c.op_id, c.rank, o.name, o.layer, o.step, o.is_backward, k.dtype, k.matrix_flop AS flop,
        TRY_CAST(json_extract(o.shapes, '$[' || coalesce(p.a, p.x) || ']') AS BIGINT[]) AS a,
        TRY_CAST(json_extract(o.shapes, '$[' || coalesce(p.b, p.w) || ']') AS BIGINT[]) AS b,
        TRY_CAST(json_extract(o.shapes, '$[' || coalesce(p.added, p.bias) || ']') AS BIGINT[]) AS bias,
        -- The weight of a linear layer has a row for every column of the product.
        p.w IS NOT NULL AS is_transposed
    FROM costed.call c JOIN costed.cost k ON k.number = c.number JOIN raw.ops o ON o.id = c.op_id
    JOIN names.gemm p ON p.name = o.name
), sized AS (
    SELECT *, if(len(a) = 3 AND NOT is_transposed, a[1], 1) AS batch, a[-1] AS k,
        if(is_transposed, b[1], b[-1]) AS n
    FROM recorded WHERE len(a) >= 2 AND len(b) >= 2
)
SELECT op_id, rank, name, layer, step, is_backward, batch,
    TRY_CAST(if(is_transposed, list_product(a[:-2]), a[-2]) AS BIGINT) AS m, n, k, dtype, flop,
    TRY_CAST(list_product(b) + if(len(bias) = 1, bias[1], 0) AS BIGINT) AS parameters
FROM sized
