-- title = "Single precision beside idle tensor cores"
-- doc = "Products and convolutions whose kernels' names say single precision without tensor cores, on a device whose datasheet has them. The bound is all of their time that nothing earlier on the device covers: what they would still take on tensor cores is not known."
-- why = "Tensor cores multiply several times as fast as the single-precision units that these kernels use."
-- cost = "Accuracy: TF32 keeps 10 bits of the mantissa, fp16 needs loss scaling; bf16 does not."
-- unless = "The model needs single precision (some losses, solvers, small normalisations); keep those operators in it."
-- needs = ["kernels", "peaks"]
-- [fix]
-- pytorch = "torch.set_float32_matmul_precision('high') and torch.backends.cudnn.allow_tf32 = True (Ampere and later); torch.autocast('cuda') with a GradScaler for fp16"
-- tensorflow = "tf.keras.mixed_precision.set_global_policy('mixed_float16'); tf.config.experimental.enable_tensor_float_32_execution(True)"
-- jax = "jax.config.update('jax_default_matmul_precision', 'tensorfloat32'), or bfloat16 arrays"
-- mxnet = "amp.init() and amp.init_trainer(trainer)"
-- keras = "keras.mixed_precision.set_global_policy('mixed_float16')"
-- any = "TF32 (Ampere and later) or mixed precision"
-- [params]
-- fp32_device_pct = { type = "DOUBLE", default = 10, doc = "found above this share of device time, in percent" }
-- [columns]
-- rank = "process of the job"
-- problem = "what was found"
-- place = "where"
-- saving_ns = "at most, per step"
-- confidence = "how sure, and why"
-- evidence = "one line per kernel"
WITH every AS MATERIALIZED (
    SELECT rank, kind, name, category, role, alone_ns / per AS own_ns, 1.0 / per AS calls FROM counted
), busy AS (
    SELECT rank, sum(own_ns) AS busy_ns FROM every GROUP BY rank
), able AS (
    SELECT rank, any_value(name) AS device FROM device_peaks
    WHERE is_used AND fp16_flop_per_s > 4 * fp32_flop_per_s GROUP BY rank
), kinds AS (
    SELECT rank, name, sum(calls) AS calls, sum(own_ns) AS own_ns FROM every
    WHERE kind = 'kernel' AND category IN ('conv', 'gemm') AND coalesce(role, 'main') = 'main'
        AND regexp_matches(name, '_sgemm_|^sgemm_|_scudnn_|implicit_convolve_sgemm<float|(dgrad|wgrad_alg0|wgrad2d)_engine<float')
    GROUP BY rank, name
)
SELECT k.rank,
    format('{:.1f} % of the device''s busy time is single-precision arithmetic on {}, which has tensor cores.',
        100.0 * sum(k.own_ns) / any_value(b.busy_ns), any_value(a.device)) AS problem,
    NULL AS place, sum(k.own_ns) AS saving_ns,
    'medium: the names say single precision; how much faster each would be they do not' AS confidence,
    list(format('{}: {:.1f} calls and {:.3f} ms', k.name, k.calls, k.own_ns / 1e6) ORDER BY k.own_ns DESC, k.name) AS evidence
FROM kinds k JOIN able a USING (rank) JOIN busy b USING (rank)
GROUP BY k.rank
HAVING 100.0 * sum(k.own_ns) > $fp32_device_pct * any_value(b.busy_ns)
ORDER BY k.rank
