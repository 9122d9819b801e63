-- title = "Shapes of convolutions"
-- record = "shapes of operators (PyTorch: record_shapes=True)"
-- missing = "the trace records no shapes of convolutions"
SELECT EXISTS (FROM counted_conv_calls WHERE flop IS NOT NULL)
