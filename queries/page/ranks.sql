-- title = "Ranks beside each other"
-- doc = """Device time of each rank by category, of its step (without steps: of the whole recording). A rank that
-- differs from the others in its column is what the others wait for, or waits itself: communication is split into
-- waiting for the last rank and transfer where it was matched across ranks. Of more than 16 ranks the median one and
-- the eight that differ most from it."""
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
WITH waited AS (
    -- The first part of a call is the waiting; what an earlier row of the device covers is not its own.
    SELECT w.rank, sum(greatest(b.step_alone_ns - w.transfer_ns, 0) / b.per) AS wait_ns
    FROM rank_waits w JOIN busy b ON b.id = w.id AND b.rank = w.rank AND b.kind = 'kernel'
    WHERE b.is_counted GROUP BY w.rank
), share AS (
    SELECT rank, category, sum(alone_ns / per) AS busy_ns FROM totals WHERE is_counted OR is_carried GROUP BY ALL
    UNION ALL
    SELECT rank, 'communication', -wait_ns FROM waited
    UNION ALL
    SELECT rank, 'waiting for ranks', wait_ns FROM waited
    UNION ALL
    SELECT rank, 'idle', sum(idle_ns) FROM account WHERE idle_ns IS NOT NULL GROUP BY rank
), step AS (
    SELECT rank, sum(step_ns) AS step_ns FROM account GROUP BY rank
), cell AS (
    SELECT s.rank, s.category, greatest(sum(s.busy_ns), 0) AS busy_ns,
        100.0 * greatest(sum(s.busy_ns), 0) / nullif(any_value(step_ns), 0) AS step_pct
    FROM share s JOIN step t ON t.rank = s.rank GROUP BY s.rank, s.category
), middle AS (
    SELECT category, median(busy_ns) AS busy_ns, median(step_pct) AS step_pct FROM cell GROUP BY category
), placed AS (
    SELECT c.rank, row_number() OVER (ORDER BY sum(abs(c.step_pct - m.step_pct)) DESC, c.rank) AS place,
        count(*) OVER () AS n
    FROM cell c JOIN middle m USING (category) GROUP BY c.rank
), listed AS (
    SELECT 0 AS nth, c.rank AS number, 'rank ' || CAST(c.rank AS VARCHAR) AS rank, c.category, c.busy_ns, c.step_pct
    FROM cell c JOIN placed p ON p.rank = c.rank WHERE p.n > 1 AND (p.n <= 16 OR p.place <= 8)
    UNION ALL
    SELECT 1, NULL, 'median', category, busy_ns, step_pct FROM middle WHERE (SELECT any_value(n) FROM placed) > 16
)
SELECT rank, category, busy_ns, step_pct
FROM listed
ORDER BY nth, number, sum(busy_ns) OVER (PARTITION BY category) DESC, category
