-- title = "Libraries"
-- doc = "By the library that implements what ran; overlapping work is counted once."
-- cannot = "There is only one run, or nothing ran in any."
-- leave_out = ["base_busy_pct", "busy_pct"]
-- [columns]
-- run = "run"
-- library = "library; (unknown) where the name does not show it"
-- base_ns = "time of A"
-- busy_ns = "time of the run"
-- diff_ns = "difference"
-- ratio = "the run's over A's"
-- base_busy_pct = "of A's device time"
-- busy_pct = "of the run's device time"
-- share_pct = "of the difference of the whole step"
-- [headings]
-- share_pct = "of difference"
-- base_busy_pct = "of A"
-- busy_pct = "of run"
WITH side AS (
    SELECT p.run, p.label, p.share_of_ns AS whole_ns, c.library,
        coalesce(sum(c.busy_ns) FILTER (c.run = 0), 0) AS base_ns,
        coalesce(sum(c.busy_ns) FILTER (c.run > 0), 0) AS busy_ns
    FROM pair p JOIN cell c ON c.run IN (0, p.run)
    GROUP BY ALL
)
SELECT label AS run, library, base_ns, side.busy_ns, side.busy_ns - base_ns AS diff_ns,
    side.busy_ns / nullif(base_ns, 0) AS ratio,
    100.0 * base_ns / nullif(b.busy_ns, 0) AS base_busy_pct, 100.0 * side.busy_ns / nullif(r.busy_ns, 0) AS busy_pct,
    100.0 * (side.busy_ns - base_ns) / whole_ns AS share_pct
FROM side JOIN run b ON b.run = 0 JOIN run r ON r.run = side.run
ORDER BY side.run, abs(side.busy_ns - base_ns) DESC, library
