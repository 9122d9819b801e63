-- doc = """The calls of rank_waits in steps that count and in which no collective of the group lacks a rank: those of
-- which a number per step can be said. A kind that never is matched in the group is in no number, and takes no step
-- away."""
-- empty_without = ["rank_waits"]
-- types = """id BIGINT, match_id BIGINT, rank INTEGER, what VARCHAR, group_name VARCHAR, team VARCHAR, sequence BIGINT,
-- step BIGINT, matched_by VARCHAR, n_found BIGINT, n_expected BIGINT, is_complete BOOLEAN, size_bytes BIGINT, start_ns
-- BIGINT, end_ns BIGINT, dur_ns BIGINT, own_ns BIGINT, hidden_ns BIGINT, exposed_ns BIGINT, is_counted BOOLEAN, per
-- BIGINT, step_ns BIGINT, clock VARCHAR, moved_ns BIGINT, error_ns BIGINT, last_ns BIGINT, last_rank INTEGER, wait_ns
-- BIGINT, transfer_ns BIGINT, collective_ns DOUBLE, skew_ns BIGINT, lead_ns BIGINT, is_last BOOLEAN, step_wait_ns
-- BIGINT, step_transfer_ns BIGINT, step_exposed_ns BIGINT, others_ns BIGINT"""
-- [columns]
-- per = "such steps of the rank and the group, or 1 without steps"
WITH lacking AS (
    -- The group's: a rank that has no record of the call has no row of it.
    SELECT DISTINCT team, step FROM matched_calls
    WHERE is_counted AND is_together AND step IS NOT NULL AND (NOT is_complete OR match_id IS NULL)
        AND (match_id IS NOT NULL OR (team, what) IN (SELECT (team, what) FROM rank_waits WHERE is_complete))
), lost AS (
    SELECT s.rank, l.team, count(*) AS n FROM lacking l JOIN step_times s ON s.step = l.step AND NOT s.is_warmup
    GROUP BY s.rank, l.team
)
SELECT w.* REPLACE (greatest(w.per - coalesce(l.n, 0), 1) AS per)
FROM rank_waits w LEFT JOIN lost l ON l.rank = w.rank AND l.team = w.team
WHERE w.is_counted AND w.is_complete
    AND NOT EXISTS (FROM lacking a WHERE a.team = w.team AND a.step = w.step)
