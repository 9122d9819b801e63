-- title = "What kind of computation each primitive is, and of which pass"
-- doc = """`family`: 1 convolution, 2 matrix product, 3 pooling, 4 normalisation, 5 local response normalisation,
-- 6 softmax; `pass`: 1 forward, 2 gradient of the input, 3 gradient of the filter. `operator_kinds` has the same;
-- `product`: which bare matrix product, by its sizes."""
SELECT id, start_ns, start_ns + dur_ns AS end_ns,
    CASE kind WHEN 'convolution' THEN 1 WHEN 'deconvolution' THEN 1 WHEN 'inner_product' THEN 2 WHEN 'matmul' THEN 2
        WHEN 'gemm_api' THEN 2 WHEN 'pooling' THEN 3 WHEN 'batch_normalization' THEN 4 WHEN 'layer_normalization' THEN 4
        WHEN 'lrn' THEN 5 WHEN 'softmax' THEN 6 END AS family,
    CASE WHEN prop_kind LIKE 'forward%' THEN 1 WHEN prop_kind = 'backward_data' THEN 2
        WHEN prop_kind = 'backward_weights' THEN 3 END AS pass,
    CASE WHEN kind = 'gemm_api' THEN dense_rank() OVER (ORDER BY shape, formats) END AS product
FROM stage.primitives
