-- title = "Negative durations are taken as 0"
-- doc = "They were counted before."
UPDATE event SET dur_ns = 0 WHERE dur_ns < 0
