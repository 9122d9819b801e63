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
-- attainable_pct = "executed, of attainable FLOP/s; empty where more was executed than the peaks allow"
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
), summed AS (
    SELECT c.layer, c.direction, c.algorithm, arithmetic, min(position) AS position,
        concat_ws(' x ', gemm_m, gemm_n, gemm_k) || if(gemms > 1, format(' ({} groups)', gemms), '') AS gemm,
        round(sum(c.calls / per_rank), 6) AS calls, sum(c.calls / per_rank * executed_flop) AS executed_flop,
        sum(c.calls / per_rank * executed_flop / executed_flop_per_byte) AS bytes,
        sum(c.calls / per_rank * executed_flop / attainable_flop_per_s) AS attainable_s,
        nullif(sum(total_ns / per_rank), 0) AS total_ns, sum(total_ns / per_rank) < any_value(w.launch_ns) AS is_late,
        bool_and(c.attainable_flop_per_s < peak_flop_per_s) AS is_memory_bound, any_value(peaks_from) AS peaks_from,
        bool_and(c.rank IN (SELECT rank FROM peaks WHERE memory_bytes_per_s IS NOT NULL)) AS has_bandwidth
    FROM conv_totals c LEFT JOIN wait w ON w.layer = c.layer AND w.direction = c.direction
    WHERE has_costs
    GROUP BY c.layer, c.direction, c.algorithm, arithmetic, gemm
), held AS (
    SELECT *, 100e9 * attainable_s / total_ns AS reached_pct FROM summed
)
SELECT layer, direction, coalesce(algorithm, '(unknown)') AS algorithm, arithmetic, gemm, calls,
    executed_flop / bytes AS intensity_flop_per_byte, executed_flop,
    1e9 * executed_flop / total_ns AS executed_flop_per_s, executed_flop / attainable_s AS attainable_flop_per_s,
    if(reached_pct > 100, NULL, reached_pct) AS attainable_pct,
    CASE WHEN is_late THEN 'launch-bound' WHEN reached_pct > 100 THEN 'cannot tell: faster than the peaks'
        WHEN reached_pct IS NULL THEN 'cannot tell: ' || if(executed_flop IS NULL, 'algorithm not known',
            if(bytes IS NULL, 'sizes of the output not known',
                coalesce(nullif(regexp_extract(peaks_from, '^unknown: (.*)', 1), ''), 'peaks of the device not known')))
        WHEN NOT has_bandwidth THEN 'cannot tell: bandwidth of the memory not known'
        ELSE if(is_memory_bound, 'memory-bound', 'compute-bound')
            || if(reached_pct < 50, format(' ({:.0f} % of it reached)', reached_pct), '')
        END AS bound, peaks_from
FROM held
ORDER BY position, layer, list_position(['fprop', 'dgrad', 'wgrad'], direction), algorithm, arithmetic, gemm
