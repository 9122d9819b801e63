-- title = "Time by category"
-- doc = """Device time per step and rank; overlaps on a device count once, for what started first, and in shares of the
-- step also those of several devices. Calls are of kernels, copies, primitives and, on a CPU, operators, also inside of
-- others. Without steps the whole recording counts as one step."""
-- cannot = "Nothing ran on a device in this trace."
-- [columns]
-- category = "what it was (docs/vocabulary.md); the last row is time in which no device was busy"
-- calls = "kernels, copies, primitives or operators per step"
-- busy_ns = "device time per step, overlaps on a device counted once"
-- busy_pct = "of all device time"
-- step_pct = "of step time, what several devices of the rank do at once counted once"
WITH ranks AS (
    SELECT avg(step_ns) AS step_ns FROM scope WHERE total_ns > 0
), per_category AS (
    SELECT category, sum(n / per_rank) FILTER (is_continued IS NOT true) AS calls, sum(alone_ns / per_rank) AS busy_ns,
        sum(rank_alone_ns / per_rank) AS rank_busy_ns
    FROM totals WHERE is_counted GROUP BY category
), shares AS (
    SELECT category, calls, busy_ns, rank_busy_ns, 0 AS last FROM per_category
    UNION ALL
    SELECT '(no device busy)', NULL, greatest(any_value(step_ns) - sum(rank_busy_ns), 0),
        greatest(any_value(step_ns) - sum(rank_busy_ns), 0), 1
    FROM per_category, ranks HAVING count(*) > 0
)
SELECT category, calls, busy_ns,
    CASE WHEN last = 0 THEN 100.0 * busy_ns / nullif(sum(busy_ns) FILTER (last = 0) OVER (), 0) END AS busy_pct,
    100.0 * rank_busy_ns / nullif((SELECT step_ns FROM ranks), 0) AS step_pct
FROM shares
ORDER BY last, busy_ns DESC, category
