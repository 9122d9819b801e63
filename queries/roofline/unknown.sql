-- title = "Without a cost"
-- doc = """Device time, per step and rank, of which nothing above says anything, and why: calls whose cost is not
-- known, and work that no operator with a known cost launched."""
-- cannot = "All device time has a cost, or nothing ran on a device."
-- subject = "reasons"
-- brief = ""
-- [columns]
-- name = "operator, or kernels without one"
-- reason = "why"
-- calls = "calls per step"
-- busy_ns = "device time per step"
-- share_pct = "of all device time"
-- [headings]
-- share_pct = "of device time"
-- [fractions]
-- calls = "calls/step"
WITH every AS (
    SELECT sum(c.total_ns) AS total_ns, sum(c.total_ns - c.covered_ns - c.unknown_ns) AS sum_ns,
        sum((c.total_ns - c.covered_ns - c.unknown_ns) / greatest(s.n_steps, 1) / greatest(s.n_ranks, 1)) AS left_ns
    FROM covered c JOIN scope s ON s.rank = c.rank
), found AS (
    SELECT op_name AS name, reason, round(sum(1 / per_rank), 6) AS calls, sum(busy_ns / per_rank) AS busy_ns,
        sum(busy_ns) AS sum_ns
    FROM op_rooflines WHERE reason IS NOT NULL GROUP BY ALL
    UNION ALL
    SELECT '(everything else)', 'launched by no operator whose cost is known', NULL, left_ns, sum_ns
    FROM every WHERE sum_ns > 0
)
SELECT name, reason, calls, busy_ns, 100.0 * sum_ns / nullif((SELECT total_ns FROM every), 0) AS share_pct
FROM found
ORDER BY busy_ns DESC, name, reason
