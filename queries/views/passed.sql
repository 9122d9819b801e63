-- doc = "The view totals with the pass of the training step that each row belongs to."
-- [columns]
-- pass = "forward, backward, or other: optimizer, data, what has neither a layer nor a pass"
SELECT *, training_pass(is_carried, has_op, op_is_backward, op_phase, layer, category, direction) AS pass
FROM totals
