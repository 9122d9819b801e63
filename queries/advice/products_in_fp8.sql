-- title = "Half precision where eight bits would do"
-- doc = """Products in fp16 or bf16 that the arithmetic of the device bounds, not its memory, and that reach at least
-- half of its peak, on a device whose datasheet has a higher peak for fp8. The bound is what they would take less
-- at the same part of that peak, and no less than half of their bytes at the memory's bandwidth, less what overlaps
-- work that started earlier on the device. Quantising costs time that is not subtracted."""
-- why = "Numbers of eight bits are multiplied at twice the rate, and half as many bytes are moved."
-- cost = """Accuracy: e4m3 keeps three bits of the mantissa, and tensors need scales. To find these and to
-- quantise reads every input once more, unless the kernel before does it."""
-- unless = "Accuracy was not tried with quantised products, or the products are small."
-- needs = ["kernels", "peaks", "operator_sizes", "linked_work"]
-- sees = "products"
-- removes = "arithmetic"
-- [fix]
-- pytorch = """torchao.float8.convert_to_float8_training(model), for inference torchao.quantization.quantize_ with
-- Float8DynamicActivationFloat8WeightConfig; or Transformer Engine's layers under te.fp8_autocast"""
-- jax = "Transformer Engine for JAX, or flax.linen.Fp8DotGeneralOp as dot_general of a layer"
-- any = "products in fp8 with scales, for the layers in which accuracy allows it"
-- [params]
-- fp8_step_pct = { type = "DOUBLE", default = 1, doc = "found above this share of the step, in percent" }
-- busy_part = { type = "DOUBLE", default = 0.5, doc = "found from this part of the peak on" }
WITH product AS (
    SELECT f.rank, f.module, f.op_name, f.dtype, f.own_ns, f.per, f.step_ns, f.peak_flop_per_s, d.name AS device,
        d.fp8_flop_per_s, 1e9 * f.matrix_flop / f.per / f.peak_flop_per_s AS peak_ns,
        greatest(f.own_ns * f.peak_flop_per_s / d.fp8_flop_per_s,
            coalesce(1e9 * f.bytes / f.per / 2 / f.memory_bytes_per_s, 0)) AS fp8_ns,
        coalesce(1e9 * f.bytes / f.per / f.memory_bytes_per_s, 0) AS memory_ns
    FROM op_floors f JOIN (FROM device_peaks WHERE is_used QUALIFY count(*) OVER (PARTITION BY rank, name)
        = count(*) OVER (PARTITION BY rank) AND row_number() OVER (PARTITION BY rank ORDER BY device) = 1) d
        ON d.rank = f.rank
    WHERE f.family = 'gemm' AND f.dtype IN ('fp16', 'bf16') AND f.matrix_flop > 0
        AND d.fp8_flop_per_s > f.peak_flop_per_s
), bound AS (
    SELECT *, greatest(own_ns - fp8_ns, 0) AS lost_ns FROM product
    WHERE peak_ns >= $busy_part * own_ns AND peak_ns > memory_ns
), kinds AS (
    SELECT rank, op_name, alike(coalesce(module, '(no module)')) AS place, dtype, sum(1 / per) AS calls,
        sum(own_ns) AS own_ns, sum(peak_ns) AS peak_ns, sum(lost_ns) AS lost_ns, any_value(step_ns) AS step_ns,
        any_value(device) AS device, any_value(fp8_flop_per_s / peak_flop_per_s) AS ratio
    FROM bound GROUP BY ALL
)
SELECT rank,
    format('Products in half precision take {:.3f} ms at {:.0f} % of their peak; that of {} for fp8 is {:.3g} times as '
        || 'high.', sum(own_ns) / 1e6, 100 * sum(peak_ns) / sum(own_ns), any_value(device), any_value(ratio))
        AS problem,
    'Mostly in ' || arg_max(place, lost_ns) AS place, sum(lost_ns) AS saving_ns,
    'low: speculative: whether the results stay good, and what quantising costs, is not known' AS confidence,
    list(format('{} in {}, {}: {:.1f} calls, {:.3f} ms at {:.0f} % of the peak', op_name, place, dtype, calls,
        own_ns / 1e6, 100 * peak_ns / own_ns) ORDER BY lost_ns DESC, place, op_name)[:10] AS evidence
FROM kinds GROUP BY rank
HAVING 100.0 * sum(lost_ns) > $fp8_step_pct * any_value(step_ns)
ORDER BY rank
