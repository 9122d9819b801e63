-- title = "Steps"
-- doc = "Mean step time; busy is the union of everything the devices did inside the step. Warm-up steps are left out."
-- cannot = "No steps in this trace: numbers below are for the whole recording."
-- [columns]
-- rank = "process of the job"
-- steps = "steps counted"
-- warmup = "leading steps left out"
-- step_ns = "mean step time"
-- sd_ns = "standard deviation of the step time"
-- busy_ns = "mean time in which at least one device was busy"
-- busy_pct = "of step time"
SELECT
    rank,
    count(*) FILTER (NOT is_warmup) AS steps,
    count(*) FILTER (is_warmup) AS warmup,
    avg(dur_ns) FILTER (NOT is_warmup) AS step_ns,
    stddev_samp(dur_ns) FILTER (NOT is_warmup) AS sd_ns,
    avg(busy_ns) FILTER (NOT is_warmup) AS busy_ns,
    100.0 * sum(busy_ns) FILTER (NOT is_warmup) / nullif(sum(dur_ns) FILTER (NOT is_warmup), 0) AS busy_pct
FROM steps
GROUP BY rank
ORDER BY rank
