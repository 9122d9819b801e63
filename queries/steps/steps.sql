-- title = "Every step"
-- doc = """Busy is the time in which at least one device of the rank was active between the step's start and its end;
-- overlapping work counts once."""
-- cannot = "No steps in this trace."
-- leave_out = ["start_ns"]
-- [columns]
-- rank = "process of the job"
-- step = "number of the step"
-- start_ns = "since the capture's origin"
-- step_ns = "duration"
-- busy_ns = "at least one device busy"
-- idle_ns = "no device busy"
-- busy_pct = "of the {step|recording}"
-- warmup = "left out of statistics"
-- [headings]
-- busy_pct = "of {step|recording}"
SELECT rank, step, start_ns, end_ns - start_ns AS step_ns, busy_ns, idle_ns,
    100.0 * busy_ns / nullif(end_ns - start_ns, 0) AS busy_pct, is_warmup AS warmup
FROM steps
ORDER BY rank, start_ns, step
