-- title = "Time by category"
-- doc = "Device time per step; overlaps are counted once, for what started first. Shares are of step time, or of the recording where there are no steps. What no device did is the last row."
-- cannot = "Nothing ran on a device in this trace."
-- [columns]
-- category = "what it was; see docs/vocabulary.md"
-- calls = "kernels, copies, primitives or operators per step"
-- busy_ns = "device time per step"
-- busy_pct = "of all device time"
-- step_pct = "of step time"
WITH per_category AS (
    SELECT category, count(*) / any_value(per) AS calls, sum(alone_ns) / any_value(per) AS busy_ns, 0 AS last
    FROM counted GROUP BY category
), step AS (
    SELECT avg(step_ns) AS step_ns, count(*) AS n_ranks FROM scope
), shares AS (
    SELECT category, calls / n_ranks AS calls, busy_ns / n_ranks AS busy_ns, last FROM per_category, step
    UNION ALL
    SELECT '(no device busy)', NULL, greatest(any_value(step.step_ns) - coalesce(sum(busy_ns) / any_value(n_ranks), 0), 0), 1
    FROM step LEFT JOIN per_category ON true
)
SELECT category, calls, busy_ns,
    CASE WHEN last = 0 THEN 100.0 * busy_ns / nullif(sum(busy_ns) FILTER (last = 0) OVER (), 0) END AS busy_pct,
    100.0 * busy_ns / nullif((SELECT step_ns FROM step), 0) AS step_pct
FROM shares
WHERE (SELECT count(*) FROM per_category) > 0
ORDER BY last, busy_ns DESC, category
