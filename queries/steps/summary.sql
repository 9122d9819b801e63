-- title = "Statistics"
-- doc = "Leading steps that take half as long again as the median are warm-up and left out; how many is said."
-- cannot = "No steps in this trace: the profiler marked none and no optimizer was recorded."
-- [columns]
-- rank = "process of the job"
-- found_by = "how the steps were found"
-- steps = "steps counted"
-- warmup = "leading steps left out"
-- mean_ns = "mean"
-- sd_ns = "standard deviation (sample)"
-- min_ns = "shortest"
-- median_ns = "median"
-- max_ns = "longest"
-- busy_pct = "device busy, of step time"
SELECT rank, coalesce(any_value(found_by), 'marked by the profiler') AS found_by,
    count(*) FILTER (NOT is_warmup) AS steps, count(*) FILTER (is_warmup) AS warmup,
    avg(dur_ns) FILTER (NOT is_warmup) AS mean_ns, stddev_samp(dur_ns) FILTER (NOT is_warmup) AS sd_ns,
    min(dur_ns) FILTER (NOT is_warmup) AS min_ns, median(dur_ns) FILTER (NOT is_warmup) AS median_ns,
    max(dur_ns) FILTER (NOT is_warmup) AS max_ns,
    100.0 * sum(busy_ns) FILTER (NOT is_warmup) / nullif(sum(dur_ns) FILTER (NOT is_warmup), 0) AS busy_pct
FROM (SELECT s.rank, s.is_warmup, s.busy_ns, s.found_by, s.end_ns - s.start_ns AS dur_ns FROM steps s)
GROUP BY rank
ORDER BY rank
