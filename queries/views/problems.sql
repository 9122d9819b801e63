-- title = "problems"
-- doc = """Every convolution whose shapes are known, each once: what the models of its methods and the conditions of
-- its algorithms are worked out for."""
SELECT DISTINCT input_shape, filter_shape, output_shape, stride, padding, dilation, groups, transposed, dtype, flop,
    element_bytes
FROM conv_shapes WHERE flop IS NOT NULL
