-- title = "busy"
-- doc = """Every activity with the part of its time that no earlier activity of its device covers: sums of it are
-- unions. With what reports per step need of its rank, its operator and its convolution."""
-- materialize = true
-- [columns]
-- covered_until_ns = "latest end of what started before it on its device"
-- alone_ns = "the part of its time after that"
-- rank_alone_ns = "the same over all devices of its rank"
-- filter = "filter of the convolution call that it is part of, as KxCxRxS"
-- n_steps = "steps of its rank that count"
-- step_ns = "mean time of these; without steps the whole recording"
-- per = "n_steps, or 1 without steps: what a number per step is divided by"
-- per_rank = """per times the ranks with a time: what a sum over all ranks is divided by, for what one of them does in
-- a step"""
-- op_is_backward = "whether its operator ran for the backward pass"
-- op_phase = "phase of its operator"
-- is_counted = "whether its step counts (is not warm-up); always where there are no steps"
SELECT a.*, a.device_until_ns AS covered_until_ns,
    greatest(a.end_ns - greatest(a.start_ns, coalesce(a.device_until_ns, a.start_ns)), 0) AS alone_ns,
    greatest(a.end_ns - greatest(a.start_ns, coalesce(a.rank_until_ns, a.start_ns)), 0) AS rank_alone_ns,
    array_to_string(s.filter_shape, 'x') AS filter,
    c.n_steps, c.step_ns, greatest(c.n_steps, 1) AS per, greatest(c.n_steps, 1) * greatest(c.n_ranks, 1) AS per_rank,
    o.is_backward AS op_is_backward, o.phase AS op_phase,
    c.rank IS NOT NULL AND (NOT c.has_steps OR t.rank IS NOT NULL) AS is_counted
FROM activities a
LEFT JOIN scope c ON c.rank = a.rank
LEFT JOIN (SELECT DISTINCT rank, step FROM step_times WHERE NOT is_warmup) t ON t.rank = a.rank AND t.step = a.step
LEFT JOIN raw.ops o ON o.id = a.op_id
LEFT JOIN conv_shapes s ON s.op_id = a.call_id
