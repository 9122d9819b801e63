-- title = "counted_conv_calls"
-- doc = "The convolution calls that reports per step count, with the layer's position; without layers, the filter's shape stands for the layer."
SELECT c.* REPLACE (coalesce(c.layer, array_to_string(c.filter_shape, 'x'), '(no layer)') AS layer,
        -- Time below a call that has no direction (dispatch, allocation) goes with the call's first direction.
        coalesce(c.direction, first_value(c.direction IGNORE NULLS) OVER call) AS direction,
        coalesce(c.algorithm, first_value(c.algorithm IGNORE NULLS) OVER call) AS algorithm),
    s.step_ns, greatest(s.n_steps, 1) AS per,
    coalesce(l.first_ns, min(c.start_ns) OVER (PARTITION BY c.rank, c.layer, c.filter_shape)) AS position
FROM conv_calls c
JOIN scope s USING (rank)
LEFT JOIN layers l ON l.rank = c.rank AND l.layer = c.layer
WHERE NOT s.has_steps OR (c.rank, c.step) IN (SELECT (rank, step) FROM step_times WHERE NOT is_warmup)
WINDOW call AS (PARTITION BY c.op_id ORDER BY c.direction IS NULL, c.start_ns
    ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
