-- title = "Whole run and steady state"
-- doc = """The whole run is from the first to the last activity of the device. Steady state is from the start of the
-- first step to the end of the last, warm-up excluded; without steps there is none."""
-- cannot = "Nothing ran on a device in this trace."
-- [columns]
-- rank = "process of the job"
-- device = "device"
-- window = "whole run or steady state"
-- steps = "steps in the window"
-- window_ns = "length of the window"
-- busy_ns = "device active time in it (overlapping work counted once)"
-- busy_pct = "of the window"
-- idle_ns = "device idle time in it"
-- sum_ns = "sum of durations in it; overlapping work counts twice"
-- overlap_pct = "sum of durations beyond the active time, of the sum"
SELECT * EXCLUDE (position) FROM windows
ORDER BY rank, device, position
