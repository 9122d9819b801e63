-- title = "Shapes of convolutions or products"
-- record = "shapes of operators (PyTorch: record_shapes=True)"
-- missing = "the trace records no shapes of convolutions or matrix products"
SELECT EXISTS (FROM conv_costs) OR EXISTS (FROM matmul_shapes)
