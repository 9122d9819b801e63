-- title = "Whole run and steady state"
-- doc = """The whole run goes from the first to the last thing the device did. Steady state goes from the start of the
-- first to the end of the last step that is no warm-up; without steps there is none."""
-- cannot = "Nothing ran on a device in this trace."
-- [columns]
-- rank = "process of the job"
-- device = "device"
-- window = "whole run or steady state"
-- steps = "steps in the window"
-- window_ns = "length of the window"
-- busy_ns = "union of everything the device did in it"
-- busy_pct = "of the window"
-- idle_ns = "window without busy"
-- sum_ns = "sum of durations in it: what overlaps counts twice"
-- overlap_pct = "time in which more than one thing ran, counted as often as it was, of the sum"
SELECT * EXCLUDE (position) FROM windows
ORDER BY rank, device, position
