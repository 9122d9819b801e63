-- title = "Steps"
-- doc = """Mean step time of each device; active is everything that ran on it inside the {step|recording}, overlaps
-- counted once, whoever launched it. Active and idle add up to the {step|recording}. Warm-up steps are left out."""
-- cannot = "No steps in this trace: numbers below are for the whole recording."
-- brief = ""
-- subject = "steps"
-- least_rows = 2
-- top = 8
-- leave_out = ["warmup", "sd_ns"]
-- [columns]
-- rank = "process of the job"
-- device = "device"
-- steps = "steps counted"
-- warmup = "leading steps left out"
-- step_ns = "mean step time"
-- sd_ns = "standard deviation of the step time"
-- active_ns = "mean time in which the device did something"
-- idle_ns = "mean time in which it did nothing"
-- active_pct = "of {step time|the recording}"
-- [headings]
-- active_pct = "active of {step|recording}"
SELECT s.rank, a.device, s.steps, s.warmup, s.step_ns, s.sd_ns, a.active_ns, a.idle_ns,
    100.0 * a.active_ns / nullif(s.step_ns, 0) AS active_pct
FROM (
    SELECT rank, count(*) FILTER (NOT is_warmup) AS steps, count(*) FILTER (is_warmup) AS warmup,
        avg(dur_ns) FILTER (NOT is_warmup) AS step_ns, stddev_samp(dur_ns) FILTER (NOT is_warmup) AS sd_ns
    FROM step_times GROUP BY rank
) s LEFT JOIN account a ON a.rank = s.rank
ORDER BY s.rank, a.device
