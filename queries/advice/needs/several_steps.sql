-- title = "At least two steps"
-- record = "more training steps"
-- missing = "the trace has fewer than two steps, warm-up excluded"
SELECT EXISTS (FROM scope WHERE n_steps > 1)
