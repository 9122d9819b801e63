-- doc = """Shape of each convolution call, one row per call. What its own records leave out is taken from the other
-- pass of the same convolution, as the profiler linked the two, else from other calls with the same input and filter
-- where all of these agree. Stride and padding that nothing recorded follow from the sizes: the smallest that fit,
-- without dilation."""
-- materialize = true
-- empty_without = ["attributed.op"]
-- types = """op_id BIGINT, input_shape BIGINT[], filter_shape BIGINT[], output_shape BIGINT[], stride BIGINT[],
-- padding BIGINT[], dilation BIGINT[], groups BIGINT, transposed BOOLEAN, dtype VARCHAR, element_bytes INTEGER,
-- gradients VARCHAR[], parameters BIGINT, flop BIGINT, source VARCHAR"""
-- [columns]
-- transposed = "NULL where it is not recorded and the shapes do not tell"
-- source = "where the shape is from, and what of it is worked out"
WITH own AS MATERIALIZED (
    -- Once: it is read three times here, and reads every operator.
    FROM recorded_shapes
), whole AS (
    SELECT * FROM own WHERE x IS NOT NULL AND w IS NOT NULL AND y IS NOT NULL
    QUALIFY row_number() OVER (PARTITION BY op_id ORDER BY source) = 1
), lent AS (
    SELECT 5 AS source, p.op_id, x, w, y, stride, padding, dilation, groups, transposed, dtype, NULL AS bias
    FROM (FROM attributed.pass UNION ALL SELECT forward_call, call_id FROM attributed.pass) p(op_id, other_id)
    JOIN whole r ON r.op_id = p.other_id
), agreed AS (
    -- Sizes of an output that the gradient of the same convolution has, or another call of it.
    SELECT x, w, any_value(y) AS y, if(count(DISTINCT stride) = 1, any_value(stride), NULL) AS stride,
        if(count(DISTINCT padding) = 1, any_value(padding), NULL) AS padding,
        if(count(DISTINCT dilation) = 1, any_value(dilation), NULL) AS dilation,
        if(count(DISTINCT groups) = 1, any_value(groups), NULL) AS groups,
        if(count(DISTINCT transposed) = 1, any_value(transposed), NULL) AS transposed
    FROM whole GROUP BY x, w HAVING count(DISTINCT y) = 1
), alike AS (
    SELECT 6 AS source, r.op_id, x, w, a.y, coalesce(r.stride, a.stride) AS stride,
        coalesce(r.padding, a.padding) AS padding, coalesce(r.dilation, a.dilation) AS dilation,
        coalesce(r.groups, a.groups) AS groups, coalesce(r.transposed, a.transposed) AS transposed, r.dtype, r.bias
    FROM own r JOIN agreed a USING (x, w) WHERE r.y IS NULL
), chosen AS (
    -- The sizes of input and filter alone are better than none.
    SELECT * FROM (FROM own UNION ALL BY NAME FROM lent UNION ALL BY NAME FROM alike)
    -- A damaged number is not a size: no machine holds such tensors, and 64 bits would not hold their products.
    WHERE list_count(list_concat(x, w, y)) = len(list_concat(x, w, y)) AND list_min(list_concat(x, w, y)) > 0
        AND list_max(list_concat(x, w, y, stride, padding, dilation)) < 2147483648
        AND greatest(list_product(x), list_product(w), list_product(y)) < 1e15
    QUALIFY row_number() OVER (PARTITION BY op_id ORDER BY y IS NULL, source) = 1
), told AS (
    -- A transposed convolution has its filters' first size in common with its input, a plain one with its output. Where
    -- both do, an output larger than the input may be of either.
    SELECT * REPLACE (coalesce(transposed, if(x[2] = w[1] AND y[2] = w[1]
            AND list_product(y[3:]) > list_product(x[3:]), NULL, coalesce(x[2] = w[1] AND y[2] <> w[1], false)))
            AS transposed),
        y IS NOT NULL AND len(y) = len(x) AND len(w) = len(x) AND (stride IS NULL OR padding IS NULL)
            AND NOT coalesce(transposed, y[2] <> w[1]) AND coalesce(list_max(dilation), 1) = 1 AS is_open
    FROM chosen
), side AS (
    SELECT DISTINCT unnest(list_zip(x[3:], w[3:], y[3:])) AS size FROM told WHERE is_open AND list_max(w[3:]) <= 64
), fitting AS (
    SELECT size, s.stride, p.padding
    FROM side, range(1, 33) s(stride), range(0, size[2]) p(padding)
    WHERE size[1] + 2 * p.padding >= size[2] AND (size[1] + 2 * p.padding - size[2]) // s.stride + 1 = size[3]
    QUALIFY row_number() OVER (PARTITION BY size ORDER BY s.stride, p.padding) = 1
), fitted AS (
    SELECT op_id, list(f.stride ORDER BY o.place) AS stride, list(f.padding ORDER BY o.place) AS padding
    FROM (SELECT op_id, len(x) - 2 AS dims, unnest(range(len(x) - 2)) AS place,
        unnest(list_zip(x[3:], w[3:], y[3:])) AS size FROM told WHERE is_open) o
    JOIN fitting f USING (size)
    GROUP BY op_id HAVING count(*) = any_value(dims)
)
SELECT op_id, x AS input_shape, w AS filter_shape, y AS output_shape, coalesce(t.stride, f.stride) AS stride,
    coalesce(t.padding, f.padding) AS padding, dilation,
    coalesce(groups, if(transposed IS NOT true AND x[2] % w[2] = 0, x[2] // w[2], 1)) AS groups,
    transposed, dtype,
    CAST(coalesce(element_size(dtype), 4) AS INTEGER) AS element_bytes,
    gradients, TRY_CAST(list_product(w) + if(len(bias) > 0, list_product(bias), 0) AS BIGINT) AS parameters,
    TRY_CAST(if(transposed IS NULL, NULL, convolution_flop(x, w, y, transposed)) AS BIGINT) AS flop,
    concat_ws('; ', CASE source WHEN 5 THEN 'the other pass of the same convolution'
        WHEN 6 THEN 'output as other calls with this input and filter have it'
        ELSE if(y IS NULL, 'recorded without the output', 'recorded') END,
        CASE WHEN f.op_id IS NOT NULL THEN 'stride and padding from the sizes' END) AS source
FROM told t LEFT JOIN fitted f USING (op_id)
