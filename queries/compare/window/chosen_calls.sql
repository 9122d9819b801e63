-- doc = "The convolution calls of the chosen steps with the same weight, and the place of their layer."
-- [columns]
-- filter = "filters x channels per group x height x width; NULL where no shape is recorded"
-- position = "start of the first forward call in the layer with this filter, else of the layer's first operator"
-- weight = "one over steps and ranks"
WITH weighed AS (
    SELECT rank, any_value(weight) AS weight FROM chosen_rows GROUP BY rank
)
SELECT c.*, array_to_string(c.filter_shape, 'x') AS filter, w.weight,
    -- A layer's first operator may be the reading of a variable, which needs no order: the arithmetic has one.
    coalesce(min(c.start_ns) FILTER (c.direction = 'fprop') OVER alike, l.first_ns,
        min(c.start_ns) OVER alike) AS position
FROM conv_calls c JOIN weighed w USING (rank)
LEFT JOIN layers l ON l.rank = c.rank AND l.layer = c.layer
WHERE NOT EXISTS (FROM chosen_steps) OR (c.rank, c.step) IN (SELECT (rank, step) FROM chosen_steps)
WINDOW alike AS (PARTITION BY c.rank, c.layer, c.filter_shape)
