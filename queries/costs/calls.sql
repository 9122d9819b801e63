-- doc = """The calls that count, with what they ran for. A forward operator that runs again within the backward pass
-- (autograd is recording there) and whose like ran in the forward pass before is recomputed: activation checkpointing.
-- With create_graph autograd records gradients too: they are not the forward pass again. Of what torch.compile made
-- autograd has no marks: there a call with the arguments and strides of one in its forward pass is recomputed, and of
-- products those that are more than their gradients can be. Each has the number of its cost."""
WITH engine AS (
    SELECT rank, pid, tid, start_ns, start_ns + dur_ns AS end_ns FROM raw.ops
    WHERE starts_with(name, 'autograd::engine::evaluate_function')
    QUALIFY coalesce(start_ns >= max(start_ns + dur_ns) OVER (PARTITION BY rank, pid, tid ORDER BY start_ns, depth
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), true)
), evaluated AS MATERIALIZED (
    SELECT c.op_id FROM (FROM costed.outermost WHERE NOT is_backward) c
    ASOF JOIN engine e ON e.rank = c.rank AND e.pid = c.pid AND e.tid = c.tid AND c.start_ns >= e.start_ns
    WHERE c.end_ns <= e.end_ns
), passed AS NOT MATERIALIZED (
    SELECT * REPLACE (is_backward OR op_id IN (FROM evaluated) AS is_backward) FROM costed.outermost
), again AS (
    SELECT rank, pid, tid, start_ns, start_ns + dur_ns AS end_ns FROM raw.ops
    WHERE sequence IS NOT NULL AND forward_thread IS NULL AND NOT contains(name, 'Backward')
        AND NOT contains(name, 'autograd::')
    QUALIFY coalesce(start_ns >= max(start_ns + dur_ns) OVER (PARTITION BY rank, pid, tid ORDER BY start_ns, depth
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), true)
), forward AS (
    SELECT rank, number, min(start_ns) AS first_ns FROM passed WHERE NOT is_backward GROUP BY rank, number
), candidate AS MATERIALIZED (
    SELECT c.op_id, c.rank, c.pid, c.tid, c.start_ns, c.number FROM (FROM passed WHERE is_backward) c
    ASOF JOIN again r ON r.rank = c.rank AND r.pid = c.pid AND r.tid = c.tid AND c.start_ns >= r.start_ns
    JOIN forward f ON f.rank = c.rank AND f.number = c.number
    WHERE c.end_ns <= r.end_ns AND f.first_ns < c.start_ns
), gradient AS (
    SELECT id, rank, pid, tid, start_ns, start_ns + dur_ns AS end_ns, contains(name, 'autograd::engine') AS is_engine
    FROM raw.ops WHERE EXISTS (FROM candidate) AND (contains(name, 'Backward') OR contains(name, 'autograd::'))
), outer_gradient AS (
    FROM gradient QUALIFY coalesce(start_ns >= max(end_ns) OVER (PARTITION BY rank, pid, tid
        ORDER BY start_ns, end_ns DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), true)
), graphed AS (
    -- A gradient begins with what it recomputes and ends with its own operators, within what the engine evaluates.
    SELECT g.id FROM raw.ops o ASOF JOIN outer_gradient g ON g.rank = o.rank AND g.pid = o.pid AND g.tid = o.tid
        AND o.start_ns >= g.start_ns
    WHERE o.start_ns < g.end_ns AND o.id NOT IN (SELECT id FROM gradient)
        AND o.parent_id IN (SELECT id FROM gradient WHERE NOT is_engine)
    GROUP BY g.id HAVING arg_max(o.sequence IS NOT NULL, (o.start_ns, o.id))
), recomputed AS MATERIALIZED (
    SELECT c.op_id, c.rank, c.number FROM candidate c ASOF LEFT JOIN outer_gradient g ON g.rank = c.rank
        AND g.pid = c.pid AND g.tid = c.tid AND c.start_ns >= g.start_ns
    WHERE g.id IS NULL OR c.start_ns >= g.end_ns OR g.id NOT IN (SELECT id FROM graphed)
), inside AS (
    -- What it saves it detaches.
    SELECT parent_id FROM raw.ops WHERE EXISTS (FROM recomputed) AND parent_id IS NOT NULL
        AND NOT contains(name, 'detach')
), stopped AS (
    -- Checkpointing ends the recomputation where autograd has what it needs: within the last operator, before it runs.
    SELECT op_id FROM recomputed WHERE op_id NOT IN (FROM inside)
        AND (rank, number) IN (SELECT (rank, number) FROM costed.outermost WHERE op_id IN (FROM inside))
), compiled AS MATERIALIZED (
    SELECT id, coalesce(forward_id, id) AS graph, forward_id IS NOT NULL AS is_gradient, rank, pid, tid, start_ns,
        start_ns + dur_ns AS end_ns
    FROM raw.ops WHERE name = 'CompiledFunction' OR name = 'CompiledFunctionBackward' AND forward_id IS NOT NULL
), called AS MATERIALIZED (
    SELECT c.op_id, c.number, c.start_ns, p.id AS pass, p.graph, p.is_gradient
    FROM (FROM costed.outermost WHERE EXISTS (FROM compiled WHERE is_gradient)
        AND number IN (SELECT number FROM costed.cost WHERE family IN ('gemm', 'conv', 'attention'))) c
    ASOF JOIN compiled p ON p.rank = c.rank AND p.pid IS NOT DISTINCT FROM c.pid AND p.tid = c.tid
        AND c.start_ns >= p.start_ns
    WHERE c.end_ns <= p.end_ns
), counted AS (
    SELECT graph, number, count(*) FILTER (NOT is_gradient) AS n FROM called GROUP BY graph, number
), factors AS (
    -- One that adds to a tensor of its size may be a gradient; one that adds a bias, of fewer dimensions, is none.
    SELECT number, is_biased, a[:-3] AS batch, a[-2] AS m, a[-1] AS k, b[-1] AS n,
        list_sort([m, k, n]) AS sides,
        CASE WHEN sa[-2] < sa[-1] THEN true WHEN sa[-2] > sa[-1] THEN false END AS is_a_turned,
        CASE WHEN sb[-2] < sb[-1] THEN true WHEN sb[-2] > sb[-1] THEN false END AS is_b_turned
    FROM (SELECT id AS number, if(name IN ('aten::mm', 'aten::bmm'), 0, 1) AS first,
            TRY(CAST(shapes->first AS BIGINT[])) AS a, TRY(CAST(shapes->(first + 1) AS BIGINT[])) AS b,
            TRY(CAST(strides->first AS BIGINT[])) AS sa, TRY(CAST(strides->(first + 1) AS BIGINT[])) AS sb,
            first = 1 AND len(TRY(CAST(shapes->0 AS BIGINT[]))) < len(a) AS is_biased
        FROM raw.ops WHERE id IN (SELECT number FROM called)
            AND name IN ('aten::mm', 'aten::bmm', 'aten::addmm', 'aten::baddbmm'))
), gradients AS (
    -- Those of a product A B are G B' and A' G, or G' A. Layouts that are not recorded may be any.
    SELECT t.graph, t.number, sum(f.n * (
            if([y.m, y.n, y.k] = [x.m, x.k, x.n] AND coalesce(x.is_b_turned <> y.is_b_turned, true), 1, 0)
            + if([y.k, y.m, y.n] = [x.m, x.k, x.n] AND coalesce(x.is_a_turned <> y.is_a_turned, true)
                OR [y.n, y.m, y.k] = [x.m, x.k, x.n] AND coalesce(x.is_a_turned, true), 1, 0))) AS n
    FROM counted t JOIN factors x ON x.number = t.number AND x.is_biased IS NOT TRUE
    JOIN counted f ON f.graph = t.graph AND f.n > 0 JOIN factors y ON y.number = f.number AND y.batch = x.batch
        AND y.sides = x.sides
    WHERE t.n > 0 GROUP BY t.graph, t.number
), compiled_again AS (
    SELECT c.op_id FROM called c JOIN counted f ON f.graph = c.graph AND f.number = c.number AND f.n > 0
    LEFT JOIN gradients g ON g.graph = c.graph AND g.number = c.number
    WHERE c.is_gradient
    QUALIFY row_number() OVER (PARTITION BY c.pass, c.number ORDER BY c.start_ns)
        <= count(*) OVER (PARTITION BY c.pass, c.number) - coalesce(g.n, 0)
)
SELECT op_id, rank, pid, tid, start_ns, end_ns, number, is_backward, op_id IN (SELECT op_id FROM recomputed)
    OR op_id IN (FROM compiled_again) AS is_recompute
FROM passed WHERE op_id NOT IN (FROM stopped)
