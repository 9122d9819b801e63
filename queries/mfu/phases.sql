-- title = "By phase"
-- doc = """Per step and rank: the forward pass, forward operators that run again for the backward pass (activation
-- checkpointing), the backward pass and the rest. FLOP/s are those of the calls with products, while they run."""
-- cannot = "No product, convolution or attention with recorded shapes in this trace."
-- subject = "phases"
-- [columns]
-- phase = "forward, computed again, backward or other"
-- calls = "calls with products, convolutions or attention, per step"
-- model_flop = "per step"
-- executed_flop = "per step, with what is computed again"
-- busy_ns = "device time of these calls"
-- executed_flop_per_s = "executed FLOP over that time"
-- peak_pct = "of the peak, while they run; empty where more was counted than the device can have done"
-- [headings]
-- peak_pct = "of peak"
-- [fractions]
-- calls = "calls/step"
SELECT CASE WHEN is_recompute THEN 'computed again' ELSE coalesce(direction, 'other') END AS phase,
    round(sum(1 / per_rank), 6) AS calls,
    coalesce(sum(matrix_flop / per_rank) FILTER (NOT is_recompute), 0) AS model_flop,
    sum(executed_flop / per_rank) AS executed_flop, sum(busy_ns / per_rank) AS busy_ns,
    1e9 * sum(executed_flop / per_rank) / nullif(sum(busy_ns / per_rank), 0) AS executed_flop_per_s,
    if(count(peak_flop_per_s) = count(*), within_peak(100e9 * sum(executed_flop / per_rank / peak_flop_per_s)
        / nullif(sum(busy_ns / per_rank), 0)), NULL) AS peak_pct
FROM op_rooflines WHERE executed_flop > 0
GROUP BY 1
ORDER BY list_position(['forward', 'computed again', 'backward', 'other'], phase)
