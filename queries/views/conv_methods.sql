-- title = "conv_methods"
-- doc = """What each method that is admissible for a convolution would cost, by model: FLOPs with their padding and
-- tile-edge waste, and workspace. One row per call, direction and method; transposed convolutions are seen from their
-- large side."""
-- materialize = true
-- [columns]
-- op_id = "the convolution call"
-- direction = "fprop, dgrad or wgrad"
-- method = "direct, explicit GEMM, Winograd F(m x m, r x r), FFT or FFT in tiles"
-- direct_flop = "multiplications and additions of the direct method"
-- products_flop = "of this method's products, with tile edges and padding"
-- transform_flop = "of its transforms; NULL where not counted (Winograd for 5x5 filters)"
-- total_flop = "products and transforms"
-- direct_ratio = "direct over total: how many times fewer"
-- workspace_bytes = "unrolled input, or transformed tensors of the whole batch"
-- fft_size = "points of a transform along one side"
-- tile_size = "side of a Winograd input tile"
-- tiles = "tiles per image and channel"
-- waste_pct = "Winograd: products beyond the output's edge, of all products"
WITH shape AS MATERIALIZED (
    SELECT * FROM conv_shapes WHERE flop IS NOT NULL
), problem AS (
    SELECT DISTINCT input_shape, filter_shape, output_shape, stride, padding, dilation, groups, transposed, dtype, flop,
        if(transposed, output_shape, input_shape) AS x, if(transposed, input_shape, output_shape) AS y,
        filter_shape AS w,
        element_bytes
    FROM shape
), sized AS (
    SELECT *,
        CAST(x[1] AS DOUBLE) AS batch, CAST(w[2] AS DOUBLE) AS depth, CAST(w[1] AS DOUBLE) AS filters,
        x[2] AS channels, list_product(w[3:]) AS taps, list_product(y[3:]) AS positions,
        list_aggregate(w[3:], 'max') AS widest_tap,
        coalesce(list_aggregate(padding, 'max'), 0) AS widest_padding,
        coalesce(list_aggregate(stride, 'max'), 1) = 1 AND coalesce(list_aggregate(dilation, 'max'), 1) = 1 AS is_dense,
        len(x) = 4 AS is_plane,
        greatest(x[3] + 2 * coalesce(padding[1], 0), x[-1] + 2 * coalesce(padding[-1], 0)) AS padded
    FROM problem
), pass AS (
    -- The data gradient (the forward pass of a transposed convolution) gives the large side, else the small one is
    -- tiled.
    SELECT *, if(direction = if(transposed, 'fprop', 'dgrad'), x, y) AS result FROM sized,
        (VALUES ('fprop'), ('dgrad'), ('wgrad')) d(direction)
), winograd AS (
    SELECT pass.*, t.*,
        CAST(ceil(result[3] / t.m) * ceil(result[4] / t.m) AS BIGINT) AS tiles
    FROM pass JOIN names.tile t ON is_plane AND is_dense AND w[3] = t.filter AND w[4] = t.filter
), fourier AS (
    -- One transform covers the padded image, or 32 x 32 tiles do that overlap by the filter.
    SELECT *, CASE whole WHEN 1 THEN CAST(2 ** ceil(log2(padded)) AS BIGINT) ELSE 32 END AS n,
        CASE whole WHEN 1 THEN 1 ELSE ceil(result[3] / (33.0 - w[3])) * ceil(result[4] / (33.0 - w[4])) END AS tiles
    FROM pass, (VALUES (1), (0)) v(whole)
    WHERE is_plane AND is_dense AND widest_tap > widest_padding
        AND if(whole = 1, padded <= 256, widest_tap <= 32 AND padded > 32)
), fourier_pairs AS (
    SELECT *, batch * channels * tiles + batch * filters * tiles + filters * depth AS planes FROM fourier
), cost AS (
    SELECT *, 'direct' AS method, flop AS products_flop, 0.0 AS transform_flop, 0.0 AS workspace_bytes FROM pass
    UNION ALL BY NAME
    SELECT *, 'explicit GEMM' AS method, flop AS products_flop, 0.0 AS transform_flop,
        if(taps = 1 AND is_dense AND widest_padding = 0, 0, element_bytes * batch * channels * taps * positions)
            AS workspace_bytes
    FROM pass
    UNION ALL BY NAME
    SELECT * EXCLUDE (method), method, 2.0 * batch * tiles * a * a * depth * filters AS products_flop,
        data_flop * batch * tiles * channels + output_flop * batch * tiles * filters + filter_flop * depth * filters
            AS transform_flop,
        4.0 * a * a * (batch * tiles * (channels + filters) + depth * filters) AS workspace_bytes
    FROM winograd
    UNION ALL BY NAME
    -- 5 n^2 log2 n for a real transform of n x n; 8 FLOP per complex product on half of the points.
    SELECT *, if(whole = 1, 'FFT', 'FFT in tiles') AS method,
        4.0 * batch * tiles * filters * depth * n * n AS products_flop,
        5.0 * n * n * log2(n) * planes AS transform_flop,
        4.0 * n * (n + 1) * planes AS workspace_bytes
    FROM fourier_pairs
)
SELECT s.op_id, c.direction, c.method, c.flop AS direct_flop, c.products_flop, c.transform_flop,
    c.products_flop + coalesce(c.transform_flop, 0) AS total_flop,
    c.flop / (c.products_flop + coalesce(c.transform_flop, 0)) AS direct_ratio,
    TRY_CAST(c.workspace_bytes AS BIGINT) AS workspace_bytes, c.n AS fft_size, c.a AS tile_size, c.tiles,
    CASE WHEN c.m IS NOT NULL THEN 100.0 * (1 - c.result[3] * c.result[4] / (c.tiles * c.m * c.m)) END AS waste_pct
FROM shape s JOIN cost c
    ON s.input_shape = c.input_shape AND s.filter_shape = c.filter_shape
    AND s.output_shape IS NOT DISTINCT FROM c.output_shape AND s.stride IS NOT DISTINCT FROM c.stride
    AND s.padding IS NOT DISTINCT FROM c.padding AND s.dilation IS NOT DISTINCT FROM c.dilation AND s.groups = c.groups
    AND s.transposed = c.transposed AND s.dtype IS NOT DISTINCT FROM c.dtype
