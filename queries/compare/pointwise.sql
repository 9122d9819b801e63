-- title = "Layout, bias, activation and pooling"
-- doc = """By the library that implements them; overlapping work is counted once. A bias or activation inside another
-- kernel has no time of its own, so fusing shows here as time that is gone."""
-- cannot = "There is only one run, or none of these in any."
-- leave_out = ["base_calls", "calls", "ratio"]
-- [columns]
-- run = "run"
-- work = """layout conversion inside convolutions, between operators or (no operator recorded) in an unknown place;
-- bias, activation or pooling"""
-- library = "library that implements it"
-- base_calls = "of A"
-- calls = "of the run"
-- base_ns = "time of A"
-- busy_ns = "time of the run"
-- diff_ns = "difference"
-- ratio = "the run's over A's"
-- share_pct = "of the difference of the whole step"
-- [headings]
-- share_pct = "of difference"
WITH side AS (
    SELECT p.run, p.label, p.share_of_ns AS whole_ns, c.library,
        CASE WHEN c.category <> 'layout_transpose' THEN c.category WHEN c.in_call THEN 'layout inside convolutions'
            WHEN NOT c.in_call THEN 'layout between operators' ELSE 'layout conversion, place unknown' END AS work,
        coalesce(sum(c.calls) FILTER (c.run = 0), 0) AS base_calls,
        coalesce(sum(c.calls) FILTER (c.run > 0), 0) AS calls,
        coalesce(sum(c.busy_ns) FILTER (c.run = 0), 0) AS base_ns,
        coalesce(sum(c.busy_ns) FILTER (c.run > 0), 0) AS busy_ns
    FROM pair p JOIN cell c ON c.run IN (0, p.run)
    WHERE c.category IN ('layout_transpose', 'bias', 'activation', 'pooling')
    GROUP BY ALL
)
SELECT label AS run, work, library, base_calls, calls, base_ns, busy_ns, busy_ns - base_ns AS diff_ns,
    busy_ns / nullif(base_ns, 0) AS ratio, 100.0 * (busy_ns - base_ns) / whole_ns AS share_pct
FROM side
ORDER BY side.run, abs(busy_ns - base_ns) DESC, work, library
