-- doc = """Attention that runs as products and a softmax: for each softmax over the last dimension of a tensor the
-- nearest products before and behind it on its thread that make that tensor and use it, and what runs over tensors of
-- its size between them (scale, mask, dropout, conversions). A gradient has up to two products on either side."""
-- [columns]
-- softmax_id = "operator of the softmax: the instance"
-- op_id = "call that is part of it, as in op_floors"
-- part = "product, softmax or between"
-- is_backward = "whether it is the gradient"
-- is_masked = "whether a mask is applied, here or in another pass of the same module"
-- batch = "heads of all samples"
-- products = "products of one call: fewer than heads where its rows hold a group of these, of the same keys and values"
-- m = "queries"
-- n = "keys"
-- d = "columns of queries and keys, or of values: the third size of a product; NULL of other parts"
WITH sized AS MATERIALIZED (
    SELECT f.*, row_number() OVER (PARTITION BY f.rank, f.pid, f.tid ORDER BY f.start_ns) AS place,
        list_transform(CAST(json_extract(o.shapes, '$[*]') AS VARCHAR[]),
            lambda x: TRY_CAST(x AS BIGINT[])) AS shapes
    FROM op_floors f JOIN raw.ops o ON o.id = f.op_id
    WHERE f.rank IN (SELECT rank FROM op_floors WHERE family = 'softmax' AND NOT contains(op_name, 'log_softmax'))
), softmax AS (
    SELECT *, shapes[1][-2] AS m, shapes[1][-1] AS n, CAST(list_product(shapes[1][:-3]) AS BIGINT) AS batch,
        CAST(list_product(shapes[1]) AS BIGINT) AS elements, direction IS NOT DISTINCT FROM 'backward' AS is_backward
    FROM sized WHERE family = 'softmax' AND NOT contains(op_name, 'log_softmax') AND len(shapes[1]) >= 2
        AND list_product(shapes[1]) > 0
), near AS (
    -- Offsets of places in between are few: a join by equality.
    SELECT s.op_id AS softmax_id, s.is_backward, s.place AS middle, s.elements, s.batch, s.m, s.n, g.op_id, g.place,
        g.shapes, g.family, g.op_name, p.batch AS products, [p.m, p.n, p.k] AS sides,
        TRY_CAST(list_product(s.shapes[1][:-2]) / p.batch AS BIGINT) AS rows
    FROM (SELECT *, unnest(range(-12, 13)) AS offset FROM softmax) s
    JOIN sized g ON g.rank = s.rank AND g.pid IS NOT DISTINCT FROM s.pid AND g.tid IS NOT DISTINCT FROM s.tid
        AND g.place = s.place + s.offset
    LEFT JOIN matmul_shapes p ON p.op_id = g.op_id
), product AS (
    SELECT *, CAST(list_product(sides) / rows / n AS BIGINT) AS d FROM near
    -- A product that adds a bias, or is called a layer, has weights: its softmax is a gate or a head of the model. So
    -- has one product for all; several may each have a group of heads in their rows.
    WHERE coalesce(batch, 1) % products = 0 AND (rows = m OR products > 1)
        AND (is_backward OR op_name NOT IN ('aten::linear', 'aten::addmm'))
        AND CASE WHEN is_backward THEN [rows, n] IN (sides[1:2], sides[2:3], [sides[1], sides[3]],
                [sides[2], sides[1]], [sides[3], sides[2]], [sides[3], sides[1]])
            WHEN place < middle THEN sides[1:2] IN ([rows, n], [n, rows])
            ELSE n IN (sides[1], sides[3]) AND rows IN (sides[1], sides[2]) END
    QUALIFY row_number() OVER (PARTITION BY softmax_id, place < middle ORDER BY abs(place - middle))
        <= if(is_backward, 2, 1)
), span AS (
    SELECT softmax_id, min(place) AS first, max(place) AS last FROM product
    GROUP BY softmax_id HAVING bool_or(place < middle) AND bool_or(place > middle)
), part AS (
    SELECT p.softmax_id, p.op_id, 'product' AS part, p.is_backward, p.batch, p.products, p.m, p.n, p.d, p.op_name
    FROM product p JOIN span USING (softmax_id)
    UNION ALL
    SELECT e.softmax_id, e.op_id, if(e.op_id = e.softmax_id, 'softmax', 'between'), e.is_backward, e.batch, NULL, e.m,
        e.n, NULL, e.op_name
    FROM near e JOIN span s ON s.softmax_id = e.softmax_id AND e.place BETWEEN s.first AND s.last
    WHERE e.products IS NULL AND e.family NOT IN ('gemm', 'conv', 'attention')
        AND list_contains(list_transform(e.shapes, lambda x: CAST(list_product(x) AS BIGINT)), e.elements)
    -- What lies between two instances belongs to the nearer one.
    QUALIFY row_number() OVER (PARTITION BY e.op_id ORDER BY abs(e.place - e.middle), e.softmax_id) = 1
)
SELECT f.rank, p.softmax_id, p.op_id, p.part, p.is_backward,
    bool_or(regexp_matches(p.op_name, '^aten::(add|masked_fill|where|sub)') AND NOT p.is_backward)
        OVER (PARTITION BY f.rank, coalesce(f.module, CAST(p.softmax_id AS VARCHAR))) AS is_masked,
    coalesce(p.batch, 1) AS batch, p.products, p.m, p.n, p.d, f.op_name, f.module, f.dtype, f.own_ns, f.matrix_flop,
    f.vector_flop, f.peak_flop_per_s, f.vector_flop_per_s, f.memory_bytes_per_s, f.start_ns, f.pid, f.tid, f.per,
    f.step_ns
FROM part p JOIN op_floors f ON f.op_id = p.op_id
