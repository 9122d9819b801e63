-- title = "Utilisation"
-- doc = """Model FLOP over step time, devices and dense peak; of several types each against its own. What has no
-- recorded arguments is not counted: below 95 % of the device time the figures say at least."""
-- cannot = """No product, convolution or attention with recorded shapes in this trace (PyTorch records them with
-- record_shapes=True)."""
-- leave_out = ["devices", "executed_flop", "peaks_from"]
-- [columns]
-- rank = "process of the job"
-- step_ns = "mean step time; empty without steps"
-- model_flop = "per step"
-- executed_flop = "per step, with what is computed again"
-- model_flop_per_s = "model FLOP over step time"
-- mfu_pct = "of the peak"
-- hfu_pct = "executed FLOP, of the peak"
-- peak_flop_per_s = "dense peak of the type with the most FLOP, of all devices of the rank"
-- type = "that type"
-- devices = "devices of the rank"
-- covered_pct = "of the device time, in calls whose cost is known"
-- verdict = "measured, at least, about, or cannot tell; and why"
-- peaks_from = "source of the peaks"
-- [headings]
-- mfu_pct = "MFU, of peak"
-- hfu_pct = "HFU, of peak"
-- covered_pct = "covered of device time"
SELECT rank, step_ns, model_flop, executed_flop, model_flop_per_s, mfu_pct, hfu_pct, peak_flop_per_s, type, devices,
    covered_pct, verdict, peaks_from
FROM mfu
ORDER BY rank
