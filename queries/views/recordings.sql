-- doc = """Per rank, the time from the first step or activity recorded to the end of the last one; of a log that prints
-- no places in time, the time of its steps and of compiling before them, where it prints both."""
-- [columns]
-- run_ns = "that time: what an amount that occurs once per run is a share of"
SELECT rank, max(end_ns) - min(start_ns) AS run_ns
FROM (SELECT rank, first_ns AS start_ns, last_ns AS end_ns FROM totals
    UNION ALL SELECT rank, start_ns, end_ns FROM marked_steps)
GROUP BY rank
UNION ALL
SELECT n.rank, n.steps_ns + c.total_ns
FROM (SELECT rank, sum(n * all_ns) AS steps_ns FROM network_times
    WHERE NOT coalesce(starts_with(network, 'Sum of all'), false) GROUP BY rank) n
JOIN (SELECT rank, sum(total_ns) AS total_ns FROM compile_times WHERE name = 'Total compile' GROUP BY rank) c
    USING (rank)
WHERE n.rank NOT IN (SELECT rank FROM totals UNION SELECT rank FROM marked_steps)
