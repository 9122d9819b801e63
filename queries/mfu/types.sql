-- title = "By type"
-- doc = """Model FLOP per step and rank by type, and the peak that each is held against; TF32 only where a kernel's
-- name says so."""
-- cannot = "No product, convolution or attention with recorded shapes in this trace."
-- subject = "types"
-- leave_out = ["peaks_from", "executed_flop"]
-- [columns]
-- dtype = "type of the products"
-- model_flop = "per step and rank"
-- executed_flop = "per step and rank, with what is computed again"
-- share_pct = "of all model FLOP"
-- peak_flop_per_s = "dense peak of one device; empty where unknown"
-- peak_ns = "time per step that they take at the peak"
-- peaks_from = "source of the peak"
-- [headings]
-- share_pct = "of model FLOP"
SELECT dtype, avg(model_flop) AS model_flop, avg(executed_flop) AS executed_flop,
    100.0 * sum(model_flop) / nullif(sum(sum(model_flop)) OVER (), 0) AS share_pct,
    if(min(peak_flop_per_s) = max(peak_flop_per_s), any_value(peak_flop_per_s), NULL) AS peak_flop_per_s,
    avg(peak_ns) AS peak_ns, min(peaks_from) AS peaks_from
FROM step_flop GROUP BY dtype
ORDER BY model_flop DESC, dtype
