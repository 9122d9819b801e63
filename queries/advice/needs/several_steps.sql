-- title = "At least two steps"
-- missing = "the trace has fewer than two steps that are no warm-up"
SELECT EXISTS (FROM scope WHERE n_steps > 1)
