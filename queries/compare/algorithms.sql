-- title = "Algorithms of the convolutions"
-- doc = "Per step and rank, over all layers."
-- cannot = "There are no two runs with timelines, or no call of a convolution is recorded in any."
-- leave_out = ["base_calls", "calls", "ratio"]
-- [columns]
-- run = "run"
-- direction = "fprop, dgrad or wgrad, where known"
-- algorithm = "how it was computed; see docs/vocabulary.md"
-- base_calls = "of A"
-- calls = "of the run"
-- base_ns = "time of A"
-- total_ns = "time of the run"
-- diff_ns = "difference"
-- ratio = "the run's over A's"
-- share_pct = "of the difference of the whole step"
-- [headings]
-- share_pct = "of difference"
WITH side AS (
    SELECT p.run, p.label, p.share_of_ns AS whole_ns, c.direction, coalesce(c.algorithm, '(unknown)') AS algorithm,
        coalesce(sum(c.calls) FILTER (c.run = 0), 0) AS base_calls,
        coalesce(sum(c.calls) FILTER (c.run > 0), 0) AS calls,
        coalesce(sum(c.total_ns) FILTER (c.run = 0), 0) AS base_ns,
        coalesce(sum(c.total_ns) FILTER (c.run > 0), 0) AS total_ns
    FROM pair p JOIN conv c ON c.run IN (0, p.run)
    WHERE NOT p.is_log
    GROUP BY ALL
)
SELECT label AS run, direction, algorithm, base_calls, calls, base_ns, total_ns, total_ns - base_ns AS diff_ns,
    total_ns / nullif(base_ns, 0) AS ratio, 100.0 * (total_ns - base_ns) / whole_ns AS share_pct
FROM side
ORDER BY side.run, abs(total_ns - base_ns) DESC, direction, algorithm
