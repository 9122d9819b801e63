-- doc = """The view method_costs for every convolution call: what each general method that is admissible for it would
-- cost. One row per call, direction and method."""
-- materialize = true
-- empty_without = ["conv_shapes"]
-- types = """op_id BIGINT, direction VARCHAR, method VARCHAR, direct_flop BIGINT, products_flop DOUBLE,
-- transform_flop DOUBLE, total_flop DOUBLE, direct_ratio DOUBLE, workspace_bytes BIGINT, fft_size BIGINT,
-- tile_size BIGINT, tiles DOUBLE, waste_pct DOUBLE, gemms BIGINT, gemm_m BIGINT, gemm_n BIGINT, gemm_k BIGINT"""
-- [columns]
-- op_id = "the convolution call"
-- direction = "fprop, dgrad or wgrad"
-- method = "direct, explicit GEMM, Winograd F(m x m, r x r), FFT or FFT in tiles"
-- direct_flop = "multiplications and additions of the direct method"
-- products_flop = "of this method's products, with tile edges and padding"
-- transform_flop = "of its transforms; NULL where not counted (Winograd for 5x5 filters)"
-- total_flop = "products and transforms"
-- direct_ratio = "direct over total: how many times fewer"
-- workspace_bytes = "unrolled input, or transformed tensors of the whole batch; of a fused method its filters alone"
-- fft_size = "points of a transform along one side"
-- tile_size = "side of a Winograd input tile"
-- tiles = "tiles per image and channel"
-- waste_pct = "Winograd: products beyond the output's edge, of all products"
SELECT s.op_id, c.direction, c.method, c.direct_flop, c.products_flop, c.transform_flop, c.total_flop, c.direct_ratio,
    c.workspace_bytes, c.fft_size, c.tile_size, c.tiles, c.waste_pct, c.gemms, c.gemm_m, c.gemm_n, c.gemm_k
FROM conv_shapes s JOIN method_costs c
    ON s.input_shape = c.input_shape AND s.filter_shape = c.filter_shape
    AND s.output_shape IS NOT DISTINCT FROM c.output_shape AND s.stride IS NOT DISTINCT FROM c.stride
    AND s.padding IS NOT DISTINCT FROM c.padding AND s.dilation IS NOT DISTINCT FROM c.dilation AND s.groups = c.groups
    AND s.transposed = c.transposed AND s.dtype IS NOT DISTINCT FROM c.dtype
WHERE c.library IS NULL
