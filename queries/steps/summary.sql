-- title = "Statistics"
-- doc = """Leading steps of more than 1.5 times the median are warm-up and left out, but for guessed ones and those
-- that wait for data; their number is given."""
-- cannot = """No steps in this trace: none are marked, no optimizer was recorded, and nothing repeats in a way that
-- only
-- a loop does."""
-- leave_out = ["min_ns", "max_ns", "warmup"]
-- worst = "mean_ns"
-- [columns]
-- rank = "process of the job"
-- found_by = "step source"
-- steps = "steps counted"
-- warmup = "leading steps left out"
-- mean_ns = "mean"
-- sd_ns = "standard deviation (sample)"
-- min_ns = "shortest"
-- median_ns = "median"
-- max_ns = "longest"
-- busy_pct = "device busy, of {step time|the recording}"
-- [headings]
-- busy_pct = "of {step|recording}"
SELECT rank, any_value(source) AS found_by,
    count(*) FILTER (NOT is_warmup) AS steps, count(*) FILTER (is_warmup) AS warmup,
    avg(dur_ns) FILTER (NOT is_warmup) AS mean_ns, stddev_samp(dur_ns) FILTER (NOT is_warmup) AS sd_ns,
    min(dur_ns) FILTER (NOT is_warmup) AS min_ns, median(dur_ns) FILTER (NOT is_warmup) AS median_ns,
    max(dur_ns) FILTER (NOT is_warmup) AS max_ns,
    100.0 * sum(busy_ns) FILTER (NOT is_warmup) / nullif(sum(dur_ns) FILTER (NOT is_warmup), 0) AS busy_pct
FROM (SELECT s.rank, s.is_warmup, s.busy_ns, t.source, s.end_ns - s.start_ns AS dur_ns FROM steps s
    JOIN step_times t ON t.rank = s.rank AND t.start_ns = s.start_ns AND t.step = s.step)
GROUP BY rank
ORDER BY rank
