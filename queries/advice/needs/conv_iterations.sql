-- title = "Iterations of convolutions"
-- missing = "no convolution is known to have run in three iterations, so that one could be gone"
SELECT EXISTS (FROM conv_trials WHERE n_iterations >= 3)
