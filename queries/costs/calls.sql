-- doc = """Calls that count, each once: the outermost with a cost, and the outermost without one that do not lie in
-- such a call; these stand for what they do besides the calls inside them. A forward operator that runs again within
-- the backward pass (autograd is recording there) and whose like ran in the forward pass before is recomputed:
-- activation checkpointing. Each has the number of its cost."""
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
), chosen AS (
    SELECT * EXCLUDE (until_ns) FROM alone
    WHERE is_known OR until_ns IS NULL OR start_ns >= until_ns OR end_ns > until_ns
), engine AS (
    SELECT rank, pid, tid, start_ns, start_ns + dur_ns AS end_ns FROM raw.ops
    WHERE starts_with(name, 'autograd::engine::evaluate_function')
    QUALIFY coalesce(start_ns >= max(start_ns + dur_ns) OVER (PARTITION BY rank, pid, tid ORDER BY start_ns, depth
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), true)
), evaluated AS (
    SELECT c.op_id FROM chosen c
    ASOF JOIN engine e ON e.rank = c.rank AND e.pid = c.pid AND e.tid = c.tid AND c.start_ns >= e.start_ns
    WHERE c.end_ns <= e.end_ns
), passed AS (
    SELECT * REPLACE (is_backward OR op_id IN (FROM evaluated) AS is_backward) FROM chosen
), again AS (
    SELECT rank, pid, tid, start_ns, start_ns + dur_ns AS end_ns FROM raw.ops
    WHERE sequence IS NOT NULL AND forward_thread IS NULL AND NOT contains(name, 'Backward')
        AND NOT contains(name, 'autograd::')
    QUALIFY coalesce(start_ns >= max(start_ns + dur_ns) OVER (PARTITION BY rank, pid, tid ORDER BY start_ns, depth
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), true)
), forward AS (
    SELECT rank, number, min(start_ns) AS first_ns FROM passed WHERE NOT is_backward GROUP BY rank, number
), recomputed AS (
    SELECT c.op_id FROM (FROM passed WHERE is_backward) c
    ASOF JOIN again r ON r.rank = c.rank AND r.pid = c.pid AND r.tid = c.tid AND c.start_ns >= r.start_ns
    JOIN forward f ON f.rank = c.rank AND f.number = c.number
    WHERE c.end_ns <= r.end_ns AND f.first_ns < c.start_ns
), found AS (
    SELECT *, op_id IN (FROM recomputed) AS is_recompute FROM passed
), inside AS (
    -- What it saves it detaches.
    SELECT parent_id FROM raw.ops WHERE EXISTS (FROM found WHERE is_recompute) AND parent_id IS NOT NULL
        AND NOT contains(name, 'detach')
), stopped AS (
    -- Checkpointing ends the recomputation where autograd has what it needs: within the last operator, before it runs.
    SELECT f.op_id FROM found f WHERE f.is_recompute AND f.op_id NOT IN (FROM inside)
        AND EXISTS (FROM found o WHERE o.rank = f.rank AND o.number = f.number AND o.op_id IN (FROM inside))
)
SELECT op_id, rank, pid, tid, start_ns, end_ns, number, is_backward, is_recompute
FROM found WHERE op_id NOT IN (SELECT op_id FROM stopped)
