-- title = "By algorithm and direction"
-- doc = """{Per step and rank|Over the whole recording, per rank}. Modelled FLOPs include transforms, padding and
-- tile-edge waste; for F(5x5,5x5) products only. Peaks are those of the data type of the products."""
-- cannot = "No convolution operator in this trace."
-- leave_out = [
--     "executed_flop", "work_flop", "main_ns", "executed_flop_per_s", "overhead_pct", "workspace_bytes", "peak_pct",
-- ]
-- [columns]
-- algorithm = "how it was computed; (unknown) if nothing in the call identifies it"
-- direction = "fprop, dgrad or wgrad"
-- calls = "calls {per step|in the recording}"
-- total_ns = "time of everything in the calls{, per step| in the recording}"
-- share_pct = "of all convolution time"
-- main_ns = "math kernels{, per step| in the recording}"
-- overhead_pct = "transforms, layout conversions, bias and helpers, of the calls' time"
-- work_flop = "FLOPs of the direct method{, per step| in the recording}"
-- executed_flop = "FLOPs of the algorithm by model{, per step| in the recording}"
-- effective_flop_per_s = "work over total time"
-- executed_flop_per_s = "executed FLOPs over total time"
-- peak_pct = "executed FLOP/s, of the device's peak; empty if that is unknown or exceeded by far"
-- workspace_bytes = "largest workspace of one call by model"
-- [headings]
-- share_pct = "of conv time"
-- overhead_pct = "overhead of calls"
-- peak_pct = "of peak"
-- [fractions]
-- calls = "calls{/step| (mean)}"
SELECT coalesce(c.algorithm, '(unknown)') AS algorithm, c.direction,
    round(sum(calls / per_rank), 6) AS calls, sum(total_ns / per_rank) AS total_ns,
    100.0 * sum(total_ns / per_rank) / nullif(sum(sum(total_ns / per_rank)) OVER (), 0) AS share_pct,
    sum(main_ns / per_rank) AS main_ns,
    100.0 * sum((total_ns - main_ns) / per_rank) / nullif(sum(total_ns / per_rank), 0) AS overhead_pct,
    sum(calls / per_rank * c.flop) AS work_flop, sum(calls / per_rank * executed_flop) AS executed_flop,
    1e9 * sum(calls / per_rank * c.flop) / nullif(sum(total_ns / per_rank) FILTER (c.flop IS NOT NULL),
        0) AS effective_flop_per_s,
    1e9 * sum(calls / per_rank * executed_flop)
        / nullif(sum(total_ns / per_rank) FILTER (executed_flop IS NOT NULL), 0) AS executed_flop_per_s,
    within_peak(100e9 * sum(calls / per_rank * executed_flop) FILTER (peak_flop_per_s IS NOT NULL)
        / nullif(sum(total_ns / per_rank * peak_flop_per_s) FILTER (executed_flop IS NOT NULL), 0)) AS peak_pct,
    max(workspace_bytes) AS workspace_bytes
FROM conv_totals c
GROUP BY c.algorithm, c.direction
ORDER BY total_ns DESC, algorithm, direction
