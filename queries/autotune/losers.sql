-- title = "Losers"
-- doc = "By kernel. The winners are what later iterations run: see the report conv."
-- cannot = """No convolution kernel runs only at the start (or there are fewer than three iterations, or no
-- convolutions)."""
-- leave_out = ["direction"]
-- kernels = ["name"]
-- [params]
-- first = { type = "BIGINT", default = 1, doc = "iterations in which a search may run" }
-- [columns]
-- rank = "process of the job"
-- name = "kernel"
-- algorithm = "algorithm it belongs to"
-- direction = "fprop, dgrad or wgrad, where known"
-- launches = "in the first iterations"
-- total_ns = "their time"
-- search_pct = "of the time of all losers"
-- [headings]
-- search_pct = "of losers' time"
SELECT rank, name, coalesce(algorithm, '(unknown)') AS algorithm, direction, count(*) AS launches,
    CAST(sum(dur_ns) AS BIGINT) AS total_ns,
    100.0 * sum(dur_ns) / sum(sum(dur_ns)) OVER (PARTITION BY rank) AS search_pct
FROM conv_trials
WHERE last_iteration <= $first AND n_iterations >= $first + 2
GROUP BY rank, name, algorithm, direction
ORDER BY total_ns DESC, rank, name, algorithm, direction
