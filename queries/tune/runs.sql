-- title = "The runs"
-- doc = "Fresh processes by phase; a run in which other programs took a tenth of the cores is not counted for claims."
-- brief = ""
-- cannot = "No runs in this capture."
-- [headings]
-- others_pct = "of the cores taken by others, median"
-- [columns]
-- phase = "screening, combination or final"
-- runs = "runs that were made"
-- failed = "runs without times"
-- noisy = "runs in which others took the cores"
-- others_pct = "median share of the cores that other programs took"
-- step_ns = "median step time of the base"
-- total_ns = "time that all of them took"
SELECT phase, count(*) AS runs, count(*) FILTER (WHERE status = 'failed') AS failed,
    count(*) FILTER (WHERE status = 'noisy') AS noisy, median(others_pct) AS others_pct,
    CAST(median(step_ns) FILTER (WHERE options = '') AS BIGINT) AS step_ns, CAST(sum(total_ns) AS BIGINT) AS total_ns
FROM raw.tune_runs
GROUP BY phase
ORDER BY min(started_unix_ns), phase
