-- title = "Timed work"
-- missing = "nothing with a time ran on a device in this trace"
SELECT EXISTS (FROM counted)
