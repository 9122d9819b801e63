-- doc = "Per rank, the time from the first step or activity recorded to the end of the last one."
-- [columns]
-- run_ns = "that time: what an amount that occurs once per run is a share of"
SELECT rank, max(end_ns) - min(start_ns) AS run_ns
FROM (SELECT rank, first_ns AS start_ns, last_ns AS end_ns FROM totals
    UNION ALL SELECT rank, start_ns, end_ns FROM marked_steps)
GROUP BY rank
