-- title = "Iterations of convolutions"
-- record = "more training steps"
-- missing = "no convolution is known to have run in at least three iterations"
SELECT EXISTS (FROM conv_trials WHERE n_iterations >= 3)
