-- title = "Shapes of convolutions"
-- missing = "the trace records no shapes of convolutions"
SELECT EXISTS (FROM counted_conv_calls WHERE flop IS NOT NULL)
