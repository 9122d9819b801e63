-- title = "part"
-- doc = "What the step of each run consists of: categories, and the time in which no device was busy."
-- [columns]
-- run = "number of the run"
-- part = "category, or in brackets what is none"
-- place = "0 for the whole step"
SELECT run, category AS part, sum(calls) AS calls, sum(busy_ns) AS busy_ns, 1 AS place FROM cell
GROUP BY run, category
UNION ALL
-- Below zero where work of the last step runs on after its end.
SELECT run, if(EXISTS (FROM run WHERE is_log), '(no device busy, or in no layer of a log)', '(no device busy)'), NULL,
    step_ns - coalesce(if(is_log, (SELECT sum(c.busy_ns) FROM cell c WHERE c.run = run.run), busy_ns), 0), 1
FROM run
UNION ALL
SELECT run, '(whole step)', NULL, step_ns, 0 FROM run
