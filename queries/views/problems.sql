-- doc = """Every convolution whose shapes are known, of the calls of a trace and of timed algorithms, each once:
-- what the models of its methods and the conditions of its algorithms are worked out for."""
SELECT input_shape, filter_shape, output_shape, stride, padding, dilation, groups, transposed, dtype, flop,
    element_bytes
FROM conv_shapes WHERE flop IS NOT NULL
UNION
SELECT input_shape, filter_shape, output_shape, stride, padding, dilation, groups, false, dtype,
    TRY_CAST(convolution_flop(input_shape, filter_shape, output_shape, false) AS BIGINT),
    CAST(coalesce(element_size(dtype), 4) AS INTEGER)
FROM (SELECT input_shape, filter_shape, output_shape, stride, padding, dilation, groups, dtype FROM timed_shapes
    UNION ALL SELECT input_shape, filter_shape, output_shape, stride, padding, dilation, groups,
        dtype FROM filter_sweeps)
WHERE list_product(filter_shape) * list_product(output_shape) > 0
