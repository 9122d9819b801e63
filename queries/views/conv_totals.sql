-- doc = """The view counted_conv_calls with the costs of conv_costs, summed up: one row per layer, direction,
-- algorithm, shape and rank, however often it ran."""
-- materialize = true
-- in_job = "per * greatest({n_ranks}, 1) AS per_rank"
-- empty_without = ["counted_conv_calls"]
-- types = """layer VARCHAR, direction VARCHAR, algorithm VARCHAR, input_shape BIGINT[], filter_shape BIGINT[],
-- per BIGINT, per_rank BIGINT, flop BIGINT, arithmetic VARCHAR, gemms BIGINT, gemm_m BIGINT, gemm_n BIGINT,
-- gemm_k BIGINT, method VARCHAR, executed_flop DOUBLE, executed_flop_per_byte DOUBLE, peak_flop_per_s DOUBLE,
-- attainable_flop_per_s DOUBLE, peaks_from VARCHAR, workspace_bytes BIGINT, has_costs BOOLEAN, rank INTEGER,
-- calls BIGINT, position BIGINT, total_ns BIGINT, main_ns BIGINT, transform_ns BIGINT, layout_ns BIGINT,
-- bias_ns BIGINT, activation_ns BIGINT, helper_ns BIGINT"""
-- [columns]
-- calls = "calls"
-- position = "place of the first of them"
-- input_shape = "batch, channels, spatial sizes"
-- filter_shape = "filters, channels per group, spatial sizes"
-- flop = "of one call, as in conv_calls"
-- executed_flop = "of one call, by model, as in conv_costs"
SELECT layer, direction, algorithm, input_shape, filter_shape, per, per_rank, flop, arithmetic, gemms, gemm_m, gemm_n,
    gemm_k, method,
    executed_flop, executed_flop_per_byte, peak_flop_per_s, attainable_flop_per_s, peaks_from, workspace_bytes,
    k.op_id IS NOT NULL AS has_costs, c.rank,
    count(*) AS calls, min(position) AS position, CAST(sum(total_ns) AS BIGINT) AS total_ns,
    CAST(sum(main_ns) AS BIGINT) AS main_ns,
    CAST(sum(transform_ns) AS BIGINT) AS transform_ns, CAST(sum(layout_ns) AS BIGINT) AS layout_ns,
    CAST(sum(bias_ns) AS BIGINT) AS bias_ns, CAST(sum(activation_ns) AS BIGINT) AS activation_ns,
    CAST(sum(helper_ns) AS BIGINT) AS helper_ns
FROM counted_conv_calls c LEFT JOIN conv_costs k USING (op_id, direction)
GROUP BY ALL
-- In one order, so that sums of floating-point numbers over it are the same each time.
ORDER BY ALL
