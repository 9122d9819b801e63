-- title = "The runs"
-- doc = "Fresh processes by phase; a run in which other programs took a tenth of the cores is not counted for claims."
-- brief = ""
-- cannot = "No runs in this capture."
-- leave_out = ["failed", "middle_ns", "total_ns"]
-- [headings]
-- step_ns = "mean step"
-- middle_ns = "median step"
-- longest_ns = "longest step"
-- others_pct = "of the cores taken by others, median"
-- [columns]
-- phase = "screening, combination or final"
-- runs = "runs that were made"
-- failed = "runs without times"
-- noisy = "runs in which others took the cores"
-- others_pct = "median share of the cores that other programs took"
-- step_ns = "step time of the base: the mean of a run's steps, the median of its runs"
-- middle_ns = "median step of the same; far below the mean where some steps wait"
-- longest_ns = "longest step of the base in any run"
-- total_ns = "time that all of them took"
SELECT phase, count(*) AS runs, count(*) FILTER (WHERE status = 'failed') AS failed,
    count(*) FILTER (WHERE status = 'noisy') AS noisy, median(others_pct) AS others_pct,
    CAST(median(step_ns) FILTER (WHERE options = '') AS BIGINT) AS step_ns,
    CAST(median(step_median_ns) FILTER (WHERE options = '') AS BIGINT) AS middle_ns,
    max(step_longest_ns) FILTER (WHERE options = '') AS longest_ns, CAST(sum(total_ns) AS BIGINT) AS total_ns
FROM raw.tune_runs
GROUP BY phase
ORDER BY min(started_unix_ns), phase
