-- title = "Cost of the search"
-- doc = """Convolution kernels that run in the first iterations and never again. The extra time of the first step also
-- includes other start-up work."""
-- cannot = """No convolution kernel runs only at the start (or there are fewer than three iterations, or no
-- convolutions)."""
-- leave_out = ["names", "longest_ns", "later_step_ns", "first_step_ns", "iterations"]
-- kernels = ["longest_name"]
-- [params]
-- first = { type = "BIGINT", default = 1, doc = "iterations in which a search may run" }
-- [columns]
-- rank = "process of the job"
-- iterations = "steps, or calls of one layer and direction"
-- names = "kernels that lost"
-- launches = "their launches"
-- search_ns = "their time, overlaps counted twice"
-- device_pct = "of all device time of the recording"
-- longest_name = "the longest trial"
-- longest_ns = "its time"
-- first_step_ns = "first recorded step; empty if there are no steps, or the search was over before it"
-- later_step_ns = "median of the later ones"
-- [headings]
-- device_pct = "of device time"
WITH lost AS (
    SELECT * FROM conv_trials WHERE last_iteration <= $first AND n_iterations >= $first + 2
), step AS (
    SELECT rank, arg_min(dur_ns, start_ns) AS first_ns,
        median(dur_ns) FILTER (start_ns > from_ns) AS later_ns
    FROM (SELECT *, min(start_ns) OVER (PARTITION BY rank) AS from_ns FROM step_times) GROUP BY rank
)
SELECT l.rank, max(l.n_iterations) AS iterations, count(DISTINCT l.name) AS names, count(*) AS launches,
    CAST(sum(l.dur_ns) AS BIGINT) AS search_ns,
    100.0 * sum(l.dur_ns) / nullif((SELECT sum(alone_ns) FROM totals b WHERE b.rank = l.rank), 0) AS device_pct,
    arg_max(l.name, l.dur_ns) AS longest_name, max(l.dur_ns) AS longest_ns,
    if(max(l.iteration) = 0, NULL, any_value(s.first_ns)) AS first_step_ns, any_value(s.later_ns) AS later_step_ns
FROM lost l LEFT JOIN step s ON s.rank = l.rank
GROUP BY l.rank
ORDER BY l.rank
