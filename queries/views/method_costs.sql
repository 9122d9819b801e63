-- doc = """Costs by model of each method that is admissible for a convolution: FLOPs with their padding and tile-edge
-- waste, workspace, and the matrix product that it is. One row per problem, direction and method; transposed
-- convolutions are seen from their large side."""
-- materialize = true
-- empty_without = ["conv_shapes", "raw.algorithm_times"]
-- types = """input_shape BIGINT[], filter_shape BIGINT[], output_shape BIGINT[], stride BIGINT[], padding BIGINT[],
-- dilation BIGINT[], groups BIGINT, transposed BOOLEAN, dtype VARCHAR, direction VARCHAR, method VARCHAR,
-- named VARCHAR, library VARCHAR, direct_flop BIGINT, gemms BIGINT, gemm_m BIGINT, gemm_n BIGINT, gemm_k BIGINT,
-- products_flop DOUBLE, transform_flop DOUBLE, filter_flop DOUBLE, total_flop DOUBLE, direct_ratio DOUBLE,
-- workspace_bytes BIGINT, fft_size BIGINT, tile_size BIGINT, tiles DOUBLE, is_fused BOOLEAN, waste_pct DOUBLE"""
-- [columns]
-- direction = "fprop, dgrad or wgrad"
-- method = "direct, explicit GEMM, Winograd F(m x m, r x r), FFT or FFT in tiles"
-- named = "the method; with * where the FLOPs of its transforms are not counted"
-- library = "the only one that has it; NULL where it is a general one"
-- gemms = "matrix products: one per group"
-- gemm_m = "rows of one product, of the direct method"
-- gemm_n = "columns of one product"
-- gemm_k = "summed dimension of one product"
-- products_flop = "of this method's products, with tile edges and padding"
-- transform_flop = "of its transforms; NULL where not counted"
-- filter_flop = "of the transform of the filter, which does not grow with the batch"
-- total_flop = "products and transforms"
-- direct_ratio = "direct over total: how many times fewer"
-- workspace_bytes = "unrolled input, or transformed tensors of the whole batch; of a fused method its filters alone"
-- is_fused = "tiles stay in registers: the FLOPs of the method without that word, in less memory"
-- fft_size = "points of a transform along one side"
-- tile_size = "side of a Winograd input tile"
-- tiles = "tiles per image and channel"
-- waste_pct = "Winograd: products beyond the output's edge, of all products"
WITH problem AS (
    SELECT *, if(transposed, output_shape, input_shape) AS x, if(transposed, input_shape, output_shape) AS y,
        filter_shape AS w
    FROM problems
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
    SELECT *, if(direction = if(transposed, 'fprop', 'dgrad'), x, y) AS result,
        -- As im2col sees it: filters, positions of all images, taps of one filter; each gradient swaps two of them.
        w[1] // groups AS gemm_filters, x[1] * list_product(y[3:]) AS gemm_positions, list_product(w[2:]) AS gemm_taps,
        CASE WHEN direction = 'wgrad' THEN 'wgrad' WHEN transposed = (direction = 'fprop') THEN 'dgrad' ELSE 'fprop' END
            AS form
    FROM sized, (VALUES ('fprop'), ('dgrad'), ('wgrad')) d(direction)
), winograd AS (
    SELECT pass.*, t.*,
        CAST(ceil(result[3] / t.m) * ceil(result[4] / t.m) AS BIGINT) AS tiles
    FROM pass JOIN names.tile t ON is_plane AND is_dense AND w[3] = t.filter AND w[4] = t.filter
), fourier AS (
    -- One transform covers the padded image, or tiles do that overlap by the filter.
    SELECT pass.*, t.method, t.library, coalesce(t.side, CAST(2 ** ceil(log2(padded)) AS BIGINT)) AS n,
        coalesce(ceil(result[3] / (t.side + 1.0 - w[3])) * ceil(result[4] / (t.side + 1.0 - w[4])), 1) AS tiles
    FROM pass JOIN names.transform t ON is_plane AND is_dense AND widest_tap > widest_padding
        AND if(t.side IS NULL, padded <= 256, widest_tap <= t.side AND padded > t.side)
), fourier_pairs AS (
    SELECT *, batch * channels * tiles + batch * filters * tiles + filters * depth AS planes FROM fourier
), cost AS (
    SELECT *, 'direct' AS method, flop AS products_flop, 0.0 AS transform_flop, 0.0 AS of_filter_flop,
        0.0 AS workspace_bytes FROM pass
    UNION ALL BY NAME
    SELECT *, 'explicit GEMM' AS method, flop AS products_flop, 0.0 AS transform_flop, 0.0 AS of_filter_flop,
        if(taps = 1 AND is_dense AND widest_padding = 0, 0, element_bytes * batch * channels * taps * positions)
            AS workspace_bytes
    FROM pass
    UNION ALL BY NAME
    SELECT *, 2.0 * batch * tiles * a * a * depth * filters AS products_flop,
        data_flop * batch * tiles * channels + output_flop * batch * tiles * filters + filter_flop * depth * filters
            AS transform_flop, filter_flop * depth * filters AS of_filter_flop,
        4.0 * a * a * (if(fused, 0, batch * tiles * (channels + filters)) + depth * filters) AS workspace_bytes
    FROM winograd
    UNION ALL BY NAME
    -- 5 n^2 log2 n for a real transform of n x n; 8 FLOP per complex product on half of the points.
    SELECT *, 4.0 * batch * tiles * filters * depth * n * n AS products_flop,
        5.0 * n * n * log2(n) * planes AS transform_flop, 5.0 * n * n * log2(n) * filters * depth AS of_filter_flop,
        4.0 * n * (n + 1) * planes AS workspace_bytes
    FROM fourier_pairs
)
SELECT input_shape, filter_shape, output_shape, stride, padding, dilation, groups, transposed, dtype, direction, method,
    method || if(transform_flop IS NULL, ' *', '') AS named, library, flop AS direct_flop, groups AS gemms,
    CAST(if(form = 'dgrad', gemm_taps, gemm_filters) AS BIGINT) AS gemm_m,
    CAST(if(form = 'wgrad', gemm_taps, gemm_positions) AS BIGINT) AS gemm_n,
    CAST(CASE form WHEN 'fprop' THEN gemm_taps WHEN 'dgrad' THEN gemm_filters ELSE gemm_positions END AS BIGINT)
        AS gemm_k,
    products_flop, transform_flop, of_filter_flop AS filter_flop,
    products_flop + coalesce(transform_flop, 0) AS total_flop,
    flop / (products_flop + coalesce(transform_flop, 0)) AS direct_ratio,
    TRY_CAST(workspace_bytes AS BIGINT) AS workspace_bytes, n AS fft_size, a AS tile_size, tiles,
    coalesce(fused, false) AS is_fused,
    CASE WHEN m IS NOT NULL THEN 100.0 * (1 - result[3] * result[4] / (tiles * m * m)) END AS waste_pct
FROM cost
