-- title = "Single precision while tensor cores are unused"
-- doc = """Products and convolutions whose kernels' names say single precision without tensor cores, convolutions in
-- the frequency domain (complex single precision) among them, but not over numbers of half precision (fp16_sgemm,
-- fp16_scudnn), on a device whose datasheet has tensor cores. The bound is their time, less what overlaps work that
-- started earlier on the device, less the least that the same products take on tensor cores: their FLOP at the highest
-- dense peak of TF32, fp16 and bf16, or half of their bytes at the memory's bandwidth. Where the sizes of a product are
-- not recorded nothing is subtracted."""
-- why = "Tensor cores multiply several times as fast as the single-precision units that these kernels use."
-- cost = "Accuracy: TF32 keeps 10 bits of the mantissa; fp16 needs loss scaling, bf16 does not."
-- unless = """The model needs single precision (some losses, solvers, small normalisations): keep those operators in
-- fp32."""
-- needs = ["kernels", "kernel_names", "peaks"]
-- sees = "graphs"
-- removes = "arithmetic"
-- [fix]
-- pytorch = """torch.autocast('cuda'), with a GradScaler for fp16; on Ampere and later also
-- torch.set_float32_matmul_precision('high') and torch.backends.cudnn.allow_tf32 = True"""
-- tensorflow = """tf.keras.mixed_precision.set_global_policy('mixed_float16');
-- tf.config.experimental.enable_tensor_float_32_execution(True)"""
-- jax = "jax.config.update('jax_default_matmul_precision', 'tensorfloat32'), or bfloat16 arrays"
-- mxnet = "amp.init() and amp.init_trainer(trainer)"
-- keras = "keras.mixed_precision.set_global_policy('mixed_float16')"
-- any = "TF32 (Ampere and later) or mixed precision"
-- [params]
-- fp32_arithmetic_pct = { type = "DOUBLE", default = 10, doc = """found above this share of the time in convolutions
-- and matrix products, in percent""" }
WITH every AS MATERIALIZED (
    -- By name first: there are few names.
    SELECT rank, name, category, algorithm, coalesce(layer, op_name) AS layer, sum(mean_ns / per) AS own_ns,
        sum(1.0 / per) AS calls
    FROM counted WHERE kind = 'kernel' AND category IN ('conv', 'gemm')
        AND coalesce(role, 'main') IN ('main', 'transform')
    GROUP BY ALL
), arithmetic AS (
    SELECT rank, sum(own_ns) AS all_ns, coalesce(sum(own_ns) FILTER (
        regexp_matches(name, '(?i)tf32|s1688|h1688|16816|884|hmma|xmma.*(f16|bf16)|gemm.*(half|bf16|f16)|nvjet')),
            0) AS tensor_ns
    FROM every GROUP BY rank
), able AS (
    SELECT rank, any_value(name) AS device, bool_and(tf32_flop_per_s IS NULL) AS is_half_only,
        max(tf32_flop_per_s) AS tf32, max(greatest(tf32_flop_per_s, fp16_flop_per_s, bf16_flop_per_s)) AS most,
        max(memory_bytes_per_s) AS bytes_per_s
    FROM device_peaks WHERE is_used AND has_tensor_cores GROUP BY rank
), single AS (
    SELECT *, if(algorithm IN ('fft', 'fft_tiling'), 'FFT', NULL) AS via FROM every
    WHERE NOT regexp_matches(name, 'fp16_s(gemm|cudnn)') AND regexp_matches(name,
        '(^|[ _])sgemm_|sgemmEx\w*<float, float\b|_scudnn_|_f32f32_f32f32_f32_\w*_ffma_|convolve(Nd)?_sgemm<float\b'
        || '|(dgrad|wgrad)\w*(engine|alg1_1)\w*<float\b|_simt_s(gemm|fprop|dgrad|wgrad)_|gemmSN_\w+<float\b'
        || '|convolve_common_engine\w*<float\b')
        OR category = 'conv' AND algorithm IN ('fft', 'fft_tiling')
), call AS (
    SELECT f.op_id, f.rank, f.matrix_flop / f.per AS flop, f.bytes / f.per AS bytes, f.own_ns, m.op_id AS part_id
    FROM op_floors f JOIN op_calls m ON m.call_id = f.op_id
    WHERE f.family IN ('gemm', 'conv', 'rnn') AND f.matrix_flop > 0
), sized AS (
    -- Of a call that is single precision in part, that part of what it has to do.
    SELECT c.rank, c.op_id, sum(k.mean_ns / k.per) AS single_ns, single_ns / nullif(any_value(c.own_ns), 0) AS part,
        any_value(c.flop) * part AS flop, coalesce(any_value(c.bytes) * part, 0) AS bytes
    FROM call c JOIN counted k ON k.op_id = c.part_id AND k.rank = c.rank
    WHERE (k.rank, k.name) IN (SELECT (rank, name) FROM single)
    GROUP BY c.rank, c.op_id
), least_time AS (
    SELECT z.rank, sum(z.single_ns) AS single_ns,
        sum(least(z.single_ns, 1e9 * greatest(z.flop / a.most, coalesce(z.bytes / 2 / a.bytes_per_s, 0)))) AS floor_ns,
        sum(least(z.single_ns, 1e9 * greatest(z.flop / nullif(a.tf32, 0), coalesce(z.bytes / a.bytes_per_s, 0))))
            FILTER (a.tf32 IS NOT NULL) AS tf32_ns
    FROM sized z JOIN able a ON a.rank = z.rank GROUP BY z.rank
), switch AS (
    SELECT rank, [format('The switches allow TF32 in {}', CASE WHEN products = 'true' AND convolutions = 'true'
            THEN 'products and convolutions: these kernels are others' WHEN products = 'true' THEN 'products alone'
            WHEN convolutions = 'true' THEN 'convolutions alone' ELSE 'neither products nor convolutions' END)] AS said
    FROM (SELECT rank, flags->>'$."cuda.matmul.allow_tf32"' AS products, flags->>'$."cudnn.allow_tf32"' AS convolutions
        FROM processes)
    WHERE products IN ('true', 'false') AND convolutions IN ('true', 'false')
), kinds AS (
    SELECT rank, name, via, sum(calls) AS calls, sum(own_ns) AS own_ns FROM single GROUP BY rank, name, via
), layer AS (
    SELECT rank, layer, sum(own_ns) AS own_ns FROM single WHERE layer IS NOT NULL GROUP BY rank, layer
), placed AS (
    SELECT rank, array_to_string(list(layer ORDER BY own_ns DESC, layer)[:3], ', ') AS place FROM layer GROUP BY rank
)
SELECT k.rank,
    format('{:.1f} % of the time in convolutions and products is single precision on {}, which has tensor cores{}{}{}.',
        100.0 * sum(k.own_ns) / any_value(a.all_ns), any_value(d.device),
        if(any_value(d.is_half_only), ' (none for TF32)', ''),
        coalesce(format('; {:.3f} ms of it goes by FFT', sum(k.own_ns) FILTER (k.via IS NOT NULL) / 1e6), ''),
        if(any_value(a.tensor_ns) > 0,
            format('; {:.1f} % uses them already', 100.0 * any_value(a.tensor_ns) / any_value(a.all_ns)), ''))
        AS problem,
    'Mostly in ' || any_value(p.place) AS place, sum(k.own_ns) - coalesce(any_value(f.floor_ns), 0) AS saving_ns,
    if(any_value(f.single_ns) > 0.9 * sum(k.own_ns),
        'medium: the names say single precision; no kernel reaches the peaks that the bound rests on',
        'medium: the names say single precision; without sizes what tensor cores would still take is not known')
        AS confidence,
    if(any_value(f.floor_ns) > 0, [format('Of {:.3f} ms in single precision, {:.3f} ms have recorded sizes: on tensor '
        || 'cores they take {:.3f} ms at least{}', sum(k.own_ns) / 1e6, any_value(f.single_ns) / 1e6,
        any_value(f.floor_ns) / 1e6, coalesce(format(', in TF32 {:.3f} ms', any_value(f.tf32_ns) / 1e6), ''))], [])
        || coalesce(any_value(s.said), [])
        || list(format('{}: {:.1f} calls and {:.3f} ms', k.name, k.calls, k.own_ns / 1e6)
            ORDER BY k.own_ns DESC, k.name) AS evidence
FROM kinds k JOIN able d USING (rank) JOIN arithmetic a USING (rank) LEFT JOIN placed p USING (rank)
LEFT JOIN least_time f USING (rank) LEFT JOIN switch s ON s.rank = k.rank AND d.tf32 IS NOT NULL
GROUP BY k.rank
HAVING 100.0 * sum(k.own_ns) > $fp32_arithmetic_pct * any_value(a.all_ns)
ORDER BY k.rank
