-- title = "Ranks"
-- doc = """Device time of each rank by category, of its step (without steps: of the whole recording). A rank that
-- differs from the others in its column is what the others wait for, or waits itself."""
-- cannot = "The trace has one rank."
-- [chart]
-- kind = "heat"
-- row = "rank"
-- column = "category"
-- value = "step_pct"
-- [columns]
-- rank = "process of the job"
-- category = "what ran; idle is the rest of the step"
-- busy_ns = "device time per step, overlaps counted once"
-- step_pct = "of the rank's step"
WITH share AS (
    SELECT rank, category, sum(alone_ns / per) AS busy_ns FROM totals WHERE is_counted OR is_carried GROUP BY ALL
    UNION ALL
    SELECT rank, 'idle', sum(idle_ns) FROM account GROUP BY rank
), step AS (
    SELECT rank, sum(step_ns) AS step_ns FROM account GROUP BY rank
)
SELECT 'rank ' || CAST(s.rank AS VARCHAR) AS rank, s.category, s.busy_ns,
    100.0 * s.busy_ns / nullif(step_ns, 0) AS step_pct
FROM share s JOIN step t ON t.rank = s.rank
WHERE (SELECT count(*) FROM step) > 1
ORDER BY s.rank, sum(s.busy_ns) OVER (PARTITION BY s.category) DESC, s.category
