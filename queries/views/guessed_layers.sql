-- doc = """Layers of convolution calls where nothing recorded any: named by their place in the forward pass, which
-- every step repeats, and by their filter. A gradient has the layer of its forward call, as the profiler linked the
-- two, else its place counted from the end, since a backward pass runs the forward one in reverse. Nothing is guessed
-- of steps with another number of calls, of passes that alternate within a step, where shapes contradict the order, and
-- where XLA made one instruction of several convolutions. One row per call."""
-- materialize = true
-- empty_without = ["attributed.part", "attributed.conv_op"]
-- types = """call_id BIGINT, rank INTEGER, position BIGINT, start_ns BIGINT, layer VARCHAR"""
-- [columns]
-- layer = "always ends with (guessed)"
-- position = "place of its forward call in the pass"
WITH part AS (
    SELECT p.call_id, k.rank, k.step, k.start_ns, if(p.role = 'main', p.direction, NULL) AS direction, k.layer
    FROM attributed.part p JOIN raw.kernels k ON k.id = p.id
    UNION ALL
    SELECT p.call_id, k.rank, k.step, k.start_ns, if(p.role = 'main', p.direction, NULL), k.layer
    FROM attributed.part p JOIN raw.primitives k ON k.id = p.id
    UNION ALL
    SELECT id, rank, step, start_ns, direction, layer FROM attributed.conv_op
), stepped AS (
    SELECT DISTINCT rank FROM raw.ranges WHERE kind = 'step'
), said AS (
    SELECT call_id, any_value(rank) AS rank, arg_min(step, start_ns) AS step, min(start_ns) AS start_ns,
        coalesce(bool_or(direction = 'fprop'), false) AS is_fprop,
        coalesce(bool_or(direction = 'wgrad'), false) AS is_wgrad,
        coalesce(bool_or(direction = 'dgrad'), false) AS is_dgrad
    FROM part
    WHERE call_id IS NOT NULL AND rank NOT IN (SELECT rank FROM part WHERE layer IS NOT NULL UNION ALL
        SELECT rank FROM raw.ops WHERE regexp_matches(hlo_kind, '^(\w+ )?(convolutions|products)$'))
    GROUP BY call_id
    -- What runs between steps is of none.
    HAVING arg_min(step, start_ns) IS NOT NULL OR any_value(rank) NOT IN (FROM stepped)
), call AS (
    -- On a CPU one operator computes both gradients: no part of it names one, but the operator is a gradient.
    SELECT s.* REPLACE (is_wgrad OR coalesce(o.is_backward OR regexp_matches(o.name, '(?i)backward'), false)
        AND NOT is_fprop AND NOT is_dgrad AS is_wgrad)
    FROM said s LEFT JOIN raw.ops o ON o.id = s.call_id
), turned AS (
    SELECT *, min(start_ns) FILTER (is_wgrad OR is_dgrad) OVER pass AS turn_ns FROM call
    WINDOW pass AS (PARTITION BY rank, step)
), sided AS (
    SELECT *, is_fprop OR NOT is_wgrad AND NOT is_dgrad AND (turn_ns IS NULL OR start_ns < turn_ns) AS is_forward
    FROM turned
), pass AS (
    SELECT rank, step, count(*) FILTER (is_forward) AS n_forward, count(*) FILTER (is_wgrad) AS n_wgrad,
        count(*) FILTER (is_dgrad) AS n_dgrad, coalesce(max(start_ns) FILTER (is_forward) < any_value(turn_ns), true)
            AS is_single,
        bool_and(is_forward OR is_wgrad OR is_dgrad) AS is_told
    FROM sided GROUP BY rank, step
), usual AS (
    SELECT rank, mode(n_forward) AS n FROM pass GROUP BY rank
), repeated AS (
    SELECT p.* FROM pass p JOIN usual u ON u.rank = p.rank AND u.n = p.n_forward
    -- Without steps only a recording of one pass and its gradients is known to be no more than that.
    WHERE p.n_forward > 0 AND p.is_single AND (p.step IS NOT NULL OR p.n_wgrad = p.n_forward)
), placed AS (
    SELECT s.*, r.n_forward, r.n_wgrad, r.n_dgrad, r.is_told,
        row_number() OVER (PARTITION BY s.rank, s.step, s.is_forward ORDER BY s.start_ns, s.call_id) AS nth,
        count(nullif(s.is_wgrad, false)) OVER backward AS nth_wgrad,
        count(nullif(s.is_dgrad, false)) OVER backward AS nth_dgrad
    FROM sided s JOIN repeated r ON r.rank = s.rank AND r.step IS NOT DISTINCT FROM s.step
    WINDOW backward AS (PARTITION BY s.rank, s.step ORDER BY s.start_ns, s.call_id
        ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
), found AS (
    SELECT call_id, rank, start_ns, nth AS position, true AS is_known FROM placed WHERE is_forward
    UNION ALL
    SELECT p.call_id, p.rank, p.start_ns, f.nth, true
    FROM placed p JOIN attributed.pass l USING (call_id) JOIN placed f ON f.call_id = l.forward_call AND f.is_forward
    WHERE NOT p.is_forward
    UNION ALL
    SELECT call_id, rank, start_ns, n_forward + 1 - if(is_wgrad, nth_wgrad, nth_dgrad), false
    FROM placed
    WHERE NOT is_forward AND is_told AND call_id NOT IN (SELECT call_id FROM attributed.pass)
        AND if(is_wgrad, n_wgrad = n_forward, n_dgrad IN (n_forward, n_forward - 1))
), shaped AS (
    SELECT f.*, s.filter_shape FROM found f LEFT JOIN conv_shapes s ON s.op_id = f.call_id
), clash AS (
    SELECT rank, bool_or(n_known > 1) AS is_wrong, bool_or(n_all > 1) AS is_doubted
    FROM (SELECT rank, position, count(DISTINCT filter_shape) AS n_all,
        count(DISTINCT filter_shape) FILTER (is_known) AS n_known FROM shaped GROUP BY rank, position)
    GROUP BY rank
)
SELECT call_id, rank, position, start_ns,
    format('conv{}{} (guessed)', position, coalesce(' ' || array_to_string(any_value(filter_shape)
        OVER (PARTITION BY rank, position), 'x'), '')) AS layer
FROM shaped JOIN clash USING (rank)
-- Where only the reversed order is contradicted, the forward pass keeps its layers.
WHERE NOT is_wrong AND (is_known OR NOT is_doubted)
QUALIFY row_number() OVER (PARTITION BY call_id ORDER BY is_known DESC, position) = 1
