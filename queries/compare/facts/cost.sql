-- doc = "FLOP, bytes and time of operators by family, per step and rank: calls launched in the chosen steps."
-- [columns]
-- family = "what the operators compute"
-- calls = "calls whose cost is known"
-- matrix_flop = "of products, convolutions and attention, with what is computed again"
-- vector_flop = "other arithmetic"
-- bytes = "least traffic; NULL where no call tells it"
-- busy_ns = "time of these calls on the device"
WITH weighed AS (
    SELECT rank, any_value(weight) AS weight FROM chosen_rows GROUP BY rank
)
SELECT c.family, CAST(round(sum(w.weight), 6) AS DOUBLE) AS calls,
    CAST(sum(c.matrix_flop * w.weight) AS DOUBLE) AS matrix_flop,
    CAST(sum(c.vector_flop * w.weight) AS DOUBLE) AS vector_flop,
    CAST(sum(c.bytes * w.weight) AS DOUBLE) AS bytes, CAST(sum(c.busy_ns * w.weight) AS DOUBLE) AS busy_ns
FROM op_costs c JOIN weighed w USING (rank)
WHERE c.reason IS NULL
    AND (NOT EXISTS (FROM chosen_steps) OR (c.rank, c.step) IN (SELECT (rank, step) FROM chosen_steps))
GROUP BY c.family
ORDER BY ALL
