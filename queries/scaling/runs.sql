-- title = "The runs"
-- doc = "Fresh processes; a run in which other programs took a tenth of the cores is noisy."
-- brief = ""
-- cannot = "No runs in this capture."
-- leave_out = ["threads", "cores"]
-- [headings]
-- others_pct = "of the cores taken by others, median"
-- spread_pct = "slowest over fastest rank, of the step"
-- [columns]
-- scaling = "weak or strong"
-- batch = "of a rank (weak), of all ranks (strong)"
-- ranks = "processes"
-- runs = "that were made"
-- failed = "without times of every rank"
-- noisy = "in which others took the cores"
-- step_ns = "of the slowest rank, median"
-- step_cpu_ns = "processor time of a rank in a step, median"
-- spread_pct = "by which the slowest rank's step is longer than the fastest one's, median"
-- others_pct = "median share of the cores that other programs took"
-- threads = "of each rank"
-- cores = "that they share"
-- total_ns = "time that all of them took"
-- why = "of the last one that failed"
SELECT mode AS scaling, if(mode = 'strong', global_batch, batch) AS batch, ranks, count(*) AS runs,
    count(*) FILTER (status = 'failed') AS failed, count(*) FILTER (status = 'noisy') AS noisy,
    CAST(median(step_ns) AS BIGINT) AS step_ns, CAST(median(step_cpu_ns) AS BIGINT) AS step_cpu_ns,
    median(100.0 * (step_ns - fastest_ns) / nullif(step_ns, 0)) AS spread_pct, median(others_pct) AS others_pct,
    max(threads) AS threads, max(cores) AS cores, CAST(sum(total_ns) AS BIGINT) AS total_ns,
    arg_max(reason, started_unix_ns) AS why
FROM raw.scaling_runs
GROUP BY mode, if(mode = 'strong', global_batch, batch), ranks
ORDER BY scaling, batch, ranks
