-- title = "Compared with the roofline"
-- doc = """By layer and direction. Attainable is the smaller of the peak and intensity times memory bandwidth, with
-- every tensor moved once; calls of different shapes are weighted by FLOPs. Peaks come from the trace or from the
-- vendor's datasheet."""
-- cannot = "No convolution with recorded shapes in this trace."
-- leave_out = [
--     "peaks_from", "arithmetic", "gemm", "executed_flop", "calls", "intensity_flop_per_byte",
--     "attainable_flop_per_s",
-- ]
-- [chart]
-- kind = "roofline"
-- x = "intensity_flop_per_byte"
-- y = "executed_flop_per_s"
-- roof = "attainable_flop_per_s"
-- colour = "algorithm"
-- label = "layer"
-- [columns]
-- layer = "layer, or filter and its shape"
-- direction = "fprop, dgrad or wgrad"
-- algorithm = "how it was computed"
-- arithmetic = "type of the products: fp32, tf32, fp16, bf16"
-- gemm = "M x N x K of the matrix product (per group)"
-- calls = "calls {per step|in the recording}"
-- intensity_flop_per_byte = "executed FLOPs per byte that must be moved"
-- executed_flop = "by model{, per step| in the recording}"
-- executed_flop_per_s = "executed FLOPs over total time"
-- attainable_flop_per_s = "roofline"
-- attainable_pct = "executed, of attainable FLOP/s"
-- bound = """launch-bound: before its kernels the device waited for their launch longer than they took; memory-bound:
-- intensity times bandwidth is below the peak; else compute-bound; in brackets how close it comes to that limit where
-- it is less than half"""
-- peaks_from = "source of the peaks"
-- [headings]
-- attainable_pct = "of attainable"
-- [fractions]
-- calls = "calls{/step| (mean)}"
WITH call AS (
    SELECT DISTINCT rank, op_id, layer FROM counted_conv_calls
), wait AS (
    -- Time in which the device had nothing to do because the host launched the call's next kernel too late.
    SELECT v.layer, c.direction, sum(g.launch_ns / c.per) AS launch_ns
    FROM idle_gaps g JOIN (SELECT DISTINCT id, call_id, direction, per FROM counted WHERE call_id IS NOT NULL) c
        ON c.id = g.id
    JOIN call v ON v.op_id = c.call_id
    GROUP BY v.layer, c.direction
)
SELECT c.layer, c.direction, coalesce(c.algorithm, '(unknown)') AS algorithm, arithmetic,
    concat_ws(' x ', gemm_m, gemm_n, gemm_k) || if(gemms > 1, format(' ({} groups)', gemms), '') AS gemm,
    round(sum(c.calls / per_rank), 6) AS calls, sum(c.calls / per_rank * executed_flop)
        / sum(c.calls / per_rank * executed_flop / executed_flop_per_byte) AS intensity_flop_per_byte,
    sum(c.calls / per_rank * executed_flop) AS executed_flop,
    1e9 * sum(c.calls / per_rank * executed_flop) / nullif(sum(total_ns / per_rank), 0) AS executed_flop_per_s,
    sum(c.calls / per_rank * executed_flop) / sum(c.calls / per_rank * executed_flop / attainable_flop_per_s)
        AS attainable_flop_per_s,
    100e9 * sum(c.calls / per_rank * executed_flop / attainable_flop_per_s) / nullif(sum(total_ns / per_rank),
        0) AS attainable_pct,
    CASE WHEN any_value(w.launch_ns) > sum(total_ns / per_rank) THEN 'launch-bound'
        WHEN attainable_pct IS NULL THEN if(count(executed_flop) = 0, 'cannot tell: algorithm not known',
            'cannot tell: peaks of the device not known')
        ELSE if(bool_and(c.attainable_flop_per_s < peak_flop_per_s), 'memory-bound', 'compute-bound')
            || if(attainable_pct < 50, format(' ({:.0f} % of it reached)', attainable_pct), '')
        END AS bound,
    any_value(peaks_from) AS peaks_from
FROM conv_totals c LEFT JOIN wait w ON w.layer = c.layer AND w.direction = c.direction
WHERE has_costs
GROUP BY c.layer, c.direction, c.algorithm, arithmetic, gemm
ORDER BY min(position), layer, list_position(['fprop', 'dgrad', 'wgrad'], c.direction), algorithm, arithmetic, gemm
