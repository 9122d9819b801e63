-- title = "Training steps"
-- record = "more training steps"
-- missing = "the trace has no training steps"
SELECT EXISTS (FROM scope WHERE has_steps)
