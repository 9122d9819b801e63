-- title = "Timed work"
-- record = "a run on a GPU with its runtime calls"
-- missing = "the trace has no timed work on a device"
SELECT EXISTS (FROM counted)
