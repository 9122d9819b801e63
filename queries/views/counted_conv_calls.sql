-- doc = """The convolution calls that reports per step count, with the layer's position; without layers, recorded or
-- guessed, the filter's shape stands for the layer."""
-- materialize = true
-- in_job = "per * greatest({n_ranks}, 1) AS per_rank"
-- empty_without = ["conv_calls"]
-- types = """op_id BIGINT, rank INTEGER, op_name VARCHAR, layer VARCHAR, step BIGINT, direction VARCHAR,
-- algorithm VARCHAR, confidence VARCHAR, algorithms VARCHAR[], evidence VARCHAR[], libraries VARCHAR[],
-- n_parts BIGINT, input_shape BIGINT[], filter_shape BIGINT[], output_shape BIGINT[], stride BIGINT[],
-- padding BIGINT[], dilation BIGINT[], groups BIGINT, transposed BOOLEAN, dtype VARCHAR, element_bytes INTEGER,
-- parameters BIGINT, flop BIGINT, forward_call BIGINT, start_ns BIGINT, end_ns BIGINT, main_ns BIGINT,
-- transform_ns BIGINT, layout_ns BIGINT, bias_ns BIGINT, activation_ns BIGINT, helper_ns BIGINT, total_ns BIGINT,
-- step_ns BIGINT, per BIGINT, per_rank BIGINT, position BIGINT"""
WITH counted AS (
    FROM conv_calls SEMI JOIN (
        SELECT t.rank, t.step FROM step_times t JOIN scope s ON s.rank = t.rank
        WHERE s.has_steps AND NOT t.is_warmup
    ) s USING (rank, step)
    UNION ALL
    FROM conv_calls WHERE rank IN (SELECT rank FROM scope WHERE NOT has_steps)
), place AS (
    -- Apart from the calls: to order these by their shapes moves all that is known of them.
    SELECT rank, layer, filter_shape, min(start_ns) AS first_ns FROM counted GROUP BY ALL
)
SELECT c.* REPLACE (coalesce(c.layer, 'filter ' || array_to_string(c.filter_shape, 'x'), '(no layer)') AS layer),
    s.step_ns, greatest(s.n_steps, 1) AS per, greatest(s.n_steps, 1) * greatest(s.n_ranks, 1) AS per_rank,
    coalesce(l.first_ns, p.first_ns) AS position
FROM counted c
JOIN scope s USING (rank)
LEFT JOIN layers l ON l.rank = c.rank AND l.layer = c.layer
LEFT JOIN place p ON p.rank = c.rank AND p.layer IS NOT DISTINCT FROM c.layer
    AND p.filter_shape IS NOT DISTINCT FROM c.filter_shape
