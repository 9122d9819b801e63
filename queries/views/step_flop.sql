-- doc = """Model FLOP of a step of each rank by type, and the peak that they are held against. MFU is the time that
-- they take at the peaks, of the step time; HFU is that of executed FLOP. A peak that is not known gives no time."""
-- [columns]
-- dtype = "type of the products"
-- model_flop = "per step; what is computed again counts once"
-- executed_flop = "per step, with what is computed again"
-- peak_flop_per_s = "dense peak of one device for the type; NULL where unknown"
-- peaks_from = "source of the peak, or unknown"
-- devices = "devices of the rank on which something ran"
-- step_ns = "mean time of a step, idle included; NULL without steps"
-- peak_ns = "time that the model FLOP of a step take at the peak, on all devices of the rank"
-- executed_ns = "the same of executed FLOP"
-- has_upper_bounds = "whether some of the FLOP are an upper bound"
SELECT o.rank, o.dtype,
    coalesce(sum(o.matrix_flop) FILTER (NOT o.is_recompute), 0) / greatest(any_value(s.n_steps), 1) AS model_flop,
    sum(o.executed_flop) / greatest(any_value(s.n_steps), 1) AS executed_flop,
    any_value(o.peak_flop_per_s) AS peak_flop_per_s, any_value(o.peaks_from) AS peaks_from,
    greatest(any_value(s.n_devices), 1) AS devices, if(any_value(s.has_steps), any_value(s.step_ns), NULL) AS step_ns,
    1e9 * model_flop / any_value(o.peak_flop_per_s) / devices AS peak_ns,
    1e9 * sum(o.executed_flop) / greatest(any_value(s.n_steps), 1) / any_value(o.peak_flop_per_s) / devices
        AS executed_ns, bool_or(contains(o.how, 'upper bound')) AS has_upper_bounds
FROM op_rooflines o JOIN scope s USING (rank)
WHERE o.executed_flop > 0
GROUP BY o.rank, o.dtype
