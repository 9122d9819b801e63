-- doc = """Parts of each run's step: categories, and idle time by cause, which add up to it; beside them what ran
-- between two steps, in neither."""
-- [columns]
-- run = "number of the run"
-- part = "category, idle and its cause, or in brackets what is neither"
-- place = "0 for the whole step, 1 for its parts, 2 for what is in no step"
SELECT run, category AS part, sum(calls) AS calls, sum(busy_ns) AS busy_ns, 1 AS place FROM cell
GROUP BY run, category
UNION ALL
-- A log of average times has no idle time: where one is among the runs, that of the others is one part too.
SELECT run, if(EXISTS (FROM run WHERE is_log) AND part <> '(between steps)', '(idle, or in no layer of a log)', part),
    NULL, sum(busy_ns), if(part = '(between steps)', 2, 1)
FROM (
    -- Nothing runs in the steps of a log, so that all of them would be idle.
    SELECT * FROM idle WHERE part = '(between steps)' OR run NOT IN (SELECT run FROM run WHERE is_log)
    UNION ALL
    -- Below zero where the layers of a log add up to more than its step.
    SELECT run, '(idle, or in no layer of a log)', step_ns - coalesce((SELECT sum(c.busy_ns) FROM cell c
        WHERE c.run = run.run), 0) FROM run WHERE is_log
)
GROUP BY ALL
UNION ALL
SELECT run, '(whole step)', NULL, step_ns, 0 FROM run
