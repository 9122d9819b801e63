-- title = "counted"
-- doc = "The activities that reports per step count: those of steps that are no warm-up; everything where there are no steps."
SELECT b.*, c.n_steps, c.step_ns, greatest(c.n_steps, 1) AS per, o.is_backward AS op_is_backward, o.phase AS op_phase
FROM busy b JOIN scope c USING (rank) LEFT JOIN raw.ops o ON o.id = b.op_id
WHERE NOT c.has_steps
    OR (b.rank, b.step) IN (SELECT (rank, step) FROM step_times WHERE NOT is_warmup)
