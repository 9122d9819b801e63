-- title = "counted_conv_calls"
-- doc = """The convolution calls that reports per step count, with the layer's position; without layers, recorded or
-- guessed, the filter's shape stands for the layer."""
-- materialize = true
SELECT c.* REPLACE (coalesce(c.layer, 'filter ' || array_to_string(c.filter_shape, 'x'), '(no layer)') AS layer),
    s.step_ns, greatest(s.n_steps, 1) AS per, greatest(s.n_steps, 1) * greatest(s.n_ranks, 1) AS per_rank,
    coalesce(l.first_ns, min(c.start_ns) OVER (PARTITION BY c.rank, c.layer, c.filter_shape)) AS position
FROM conv_calls c
JOIN scope s USING (rank)
LEFT JOIN layers l ON l.rank = c.rank AND l.layer = c.layer
WHERE NOT s.has_steps OR (c.rank, c.step) IN (SELECT (rank, step) FROM step_times WHERE NOT is_warmup)
