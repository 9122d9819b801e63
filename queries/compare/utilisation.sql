-- title = "Utilisation"
-- doc = """GPU active time (overlapping work counted once), averaged over the devices of a rank: in the compared steps,
-- and in the whole recording from the first to the last activity. A log of average times does not have it."""
-- cannot = "There is no run."
-- bar = "busy_pct"
-- leave_out = ["span_ns"]
-- [columns]
-- run = "run"
-- step_ns = "mean step time, or the whole recording"
-- busy_ns = "device active, of the step time"
-- idle_ns = "device idle, of the step time; NULL for a log of average times"
-- busy_pct = "device active, of the step time"
-- span_ns = "whole recording"
-- span_busy_pct = "device active, of the whole recording"
-- [headings]
-- busy_pct = "of step"
-- span_busy_pct = "of recording"
SELECT chr(CAST(65 + run AS INTEGER)) AS run, step_ns, busy_ns,
    if(is_log, NULL, step_ns - coalesce(busy_ns, 0)) AS idle_ns,
    100.0 * busy_ns / nullif(step_ns, 0) AS busy_pct, span_ns, span_busy_pct
FROM run
ORDER BY run.run
