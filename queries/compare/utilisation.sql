-- title = "Utilisation"
-- doc = """Busy is the union of everything that a device did, averaged over the devices of a rank: in the compared
-- steps, and in the whole recording from the first to the last thing it did. A log of average times tells nothing of
-- it."""
-- cannot = "There is no run."
-- bar = "busy_pct"
-- [columns]
-- run = "run"
-- step_ns = "mean step time, or the whole recording"
-- busy_ns = "of it the device was busy"
-- idle_ns = "of it the device did nothing; NULL for a log of average times"
-- busy_pct = "busy, of the step time"
-- span_ns = "whole recording"
-- span_busy_pct = "busy, of the whole recording"
SELECT chr(CAST(65 + run AS INTEGER)) AS run, step_ns, busy_ns,
    if(is_log, NULL, step_ns - coalesce(busy_ns, 0)) AS idle_ns,
    100.0 * busy_ns / nullif(step_ns, 0) AS busy_pct, span_ns, span_busy_pct
FROM run
ORDER BY run.run
