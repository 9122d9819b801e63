-- doc = """Fully connected layers where nothing recorded any: named by their place in the forward pass, which
-- every step repeats, and by their weight. A gradient has the layer of its forward call, as the profiler linked
-- the two, else its place counted from the end. Nothing is guessed without steps, of steps with another number of
-- calls, and where sizes contradict the order. One row per operator in them."""
-- materialize = true
-- empty_without = ["attributed.inside_linear"]
-- types = """op_id BIGINT, rank INTEGER, layer VARCHAR, is_backward BOOLEAN, first_ns BIGINT"""
-- [columns]
-- op_id = "the operator, or one inside it"
-- layer = "always ends with (guessed)"
-- is_backward = "whether it is part of a gradient"
-- first_ns = "start of the forward call"
WITH call AS (
    SELECT o.id, o.rank, o.step, o.start_ns, o.forward_id, o.is_gradient AS is_backward,
        -- linear holds its weight by rows of outputs, addmm by columns; a gradient's last size is that of the outputs.
        CASE WHEN o.name LIKE 'aten::%addmm%' THEN list_reverse(TRY_CAST(json_extract(o.shapes, '$[2]') AS BIGINT[]))
            WHEN o.name = 'aten::linear' THEN TRY_CAST(json_extract(o.shapes, '$[1]') AS BIGINT[])
            ELSE TRY_CAST(json_extract(o.shapes, '$[0]') AS BIGINT[])[-1:] END AS sizes
    FROM attributed.linear o
    LEFT JOIN attributed.linear p ON p.id = o.parent_id AND NOT p.is_gradient
    ANTI JOIN attributed.op a ON a.id = o.id
    WHERE o.step IS NOT NULL
        AND (o.is_gradient OR p.id IS NULL AND NOT coalesce(o.is_backward, false))
), pass AS (
    SELECT rank, step, count(*) FILTER (NOT is_backward) AS n, count(*) FILTER (is_backward) AS n_backward
    FROM call GROUP BY rank, step
), usual AS (
    SELECT rank, mode(n) AS n FROM pass GROUP BY rank
), placed AS (
    SELECT c.*, p.n, p.n_backward,
        row_number() OVER (PARTITION BY c.rank, c.step, c.is_backward ORDER BY c.start_ns, c.id) AS nth
    FROM call c JOIN pass p USING (rank, step) JOIN usual u ON u.rank = c.rank AND u.n = p.n
    WHERE p.n > 0
), found AS (
    SELECT id, rank, nth AS position, start_ns, is_backward, sizes FROM placed WHERE NOT is_backward
    UNION ALL
    SELECT b.id, b.rank, coalesce(f.nth, b.n + 1 - b.nth), b.start_ns, true, b.sizes
    FROM placed b LEFT JOIN placed f ON f.id = b.forward_id AND NOT f.is_backward
    WHERE b.is_backward AND (f.id IS NOT NULL OR b.n_backward = b.n)
), clash AS (
    SELECT rank, bool_or(n_weights > 1) AS is_wrong, bool_or(n_outputs > 1) AS is_doubted
    FROM (SELECT rank, position, count(DISTINCT sizes) FILTER (NOT is_backward) AS n_weights,
        count(DISTINCT sizes[1]) AS n_outputs FROM found GROUP BY rank, position)
    GROUP BY rank
), named AS (
    SELECT id, rank, is_backward, format('linear{}{} (guessed)', position,
        coalesce(' ' || array_to_string(any_value(sizes) FILTER (NOT is_backward) OVER place, 'x'), '')) AS layer,
        min(start_ns) FILTER (NOT is_backward) OVER place AS first_ns
    FROM found JOIN clash USING (rank)
    -- Where only the reversed order is contradicted, the forward pass keeps its layers.
    WHERE NOT is_wrong AND (NOT is_backward OR NOT is_doubted)
    WINDOW place AS (PARTITION BY rank, position)
)
SELECT DISTINCT e.id AS op_id, n.rank, n.layer, n.is_backward, n.first_ns
FROM attributed.inside_linear e JOIN named n ON n.id = e.linear_id
