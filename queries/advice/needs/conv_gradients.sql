-- title = "Gradients of convolutions"
-- missing = "the trace holds no gradient of a convolution"
SELECT EXISTS (FROM counted_conv_calls WHERE direction IN ('dgrad', 'wgrad'))
