-- title = "Shapes of convolutions or sizes of copies"
-- record = "shapes of operators (PyTorch: record_shapes=True)"
-- missing = "the trace records neither shapes of convolutions nor sizes of copies to the host"
SELECT EXISTS (FROM counted_conv_calls WHERE flop IS NOT NULL)
    OR EXISTS (FROM raw.memcpys WHERE size_bytes IS NOT NULL AND direction = 'DtoH')
