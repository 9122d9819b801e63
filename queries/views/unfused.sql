-- doc = """Biases and activations of the forward pass in kernels, primitives or operators of their own, of the steps
-- that count."""
-- [columns]
-- saved_ns = "its time per step, less what overlaps work that started earlier on any device of its rank"
SELECT *, rank_alone_ns / per AS saved_ns FROM counted
WHERE category IN ('bias', 'activation') AND NOT coalesce(op_is_backward, false)
    AND coalesce(direction, '') NOT IN ('dgrad', 'wgrad', 'backward')
    AND NOT regexp_matches(concat_ws(' ', name, op_name), '(?i)grad|backward|bprop|bwd')
