-- title = "Where the difference goes"
-- doc = """By category, with overlaps counted once, so that the parts add up to the step. The share is of the
-- difference of the whole step; a part that goes against it has a share below zero, and the parts then share more than
-- 100 %. Where the layers of a log add up to more than its step, the time in no layer is below zero."""
-- cannot = "There is only one run, or nothing ran in any."
-- bar = "diff_ns"
-- [columns]
-- run = "run"
-- part = "category (docs/vocabulary.md), or time in which no device was busy"
-- base_calls = "kernels, copies, primitives or operators of A"
-- calls = "of the run"
-- base_ns = "time of A"
-- busy_ns = "time of the run"
-- diff_ns = "difference"
-- ratio = "the run's over A's"
-- share_pct = "of the difference of the whole step"
WITH part AS (
    SELECT run, category AS part, sum(calls) AS calls, sum(busy_ns) AS busy_ns, 1 AS place FROM cell
    GROUP BY run, category
    UNION ALL
    -- Below zero where work of the last step runs on after its end.
    SELECT run, if(EXISTS (FROM run WHERE is_log), '(no device busy, or in no layer of a log)', '(no device busy)'),
        NULL,
        step_ns - coalesce(if(is_log, (SELECT sum(c.busy_ns) FROM cell c WHERE c.run = run.run), busy_ns), 0), 1
            FROM run
    UNION ALL
    SELECT run, '(whole step)', NULL, step_ns, 0 FROM run
), side AS (
    SELECT p.run, p.label, p.diff_ns AS whole_ns, part.part, part.place,
        any_value(part.calls) FILTER (part.run = 0) AS base_calls,
        any_value(part.calls) FILTER (part.run > 0) AS calls, coalesce(any_value(part.busy_ns) FILTER (part.run = 0),
            0) AS base_ns,
        coalesce(any_value(part.busy_ns) FILTER (part.run > 0), 0) AS busy_ns
    FROM pair p JOIN part ON part.run IN (0, p.run)
    -- A log that times layers only, or several implementations, has no step to be taken apart.
    WHERE part.part NOT LIKE '(%' OR (p.base_ns IS NOT NULL AND p.step_ns IS NOT NULL)
    GROUP BY ALL
)
SELECT label AS run, part, base_calls, calls, base_ns, busy_ns, busy_ns - base_ns AS diff_ns,
    busy_ns / nullif(base_ns, 0) AS ratio,
    100.0 * (busy_ns - base_ns) / nullif(whole_ns, 0) AS share_pct
FROM side
ORDER BY side.run, place, abs(busy_ns - base_ns) DESC, part
