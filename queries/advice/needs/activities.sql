-- title = "Timed work"
-- missing = "the trace has no timed work on a device"
SELECT EXISTS (FROM counted)
