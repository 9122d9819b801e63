-- doc = """Calls that count, each once: the outermost with a cost, and the outermost without one that do not lie in
-- such a call; of what these do besides the calls inside them, what comes before the first of those counts."""
WITH known AS (
    SELECT *, max(end_ns) OVER (PARTITION BY rank, pid, tid ORDER BY start_ns, depth
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS until_ns
    FROM costed.candidate WHERE is_known
), outermost AS (
    SELECT * EXCLUDE (until_ns) FROM known WHERE until_ns IS NULL OR start_ns >= until_ns OR end_ns > until_ns
), alone AS (
    SELECT *, max(end_ns) OVER (PARTITION BY rank, pid, tid ORDER BY start_ns, depth
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS until_ns
    FROM (FROM outermost UNION ALL BY NAME FROM costed.candidate WHERE NOT is_known)
)
SELECT op_id, rank, pid, tid, start_ns, end_ns, number, is_backward FROM alone
WHERE is_known OR until_ns IS NULL OR start_ns >= until_ns OR end_ns > until_ns
