-- title = "Iterations of convolutions"
-- missing = "no convolution is known to have run in at least three iterations"
SELECT EXISTS (FROM conv_trials WHERE n_iterations >= 3)
