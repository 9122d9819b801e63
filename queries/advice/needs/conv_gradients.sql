-- title = "Gradients of convolutions"
-- record = "training with these operators"
-- missing = "the trace holds no gradient of a convolution"
SELECT EXISTS (FROM counted_conv_calls WHERE direction IN ('dgrad', 'wgrad'))
