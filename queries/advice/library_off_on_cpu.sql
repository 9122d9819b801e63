-- title = "Convolutions without oneDNN on a CPU"
-- doc = """Convolution calls on a CPU that lower the input to a matrix product (im2col) or run the framework's own
-- loops, where the framework has oneDNN: no convolution primitive under them, and a sign of the other way (a matrix
-- product of the library below, the operator's name, a switch that is off, or TensorFlow's default of off on a
-- processor without AVX512_VNNI, AVX512_BF16, AVX_VNNI or AMX). Calls on float64, for which oneDNN has no primitive,
-- are left out, and where PyTorch's switch is recorded as on those on float32 of one image, or with 1x1 filters of
-- fewer than 16: for such PyTorch may choose its own loops. The bound: where calls are lowered to a matrix product
-- or given to NNPACK, what a layer's calls take beyond the rate of its fastest pass in this recording and, for images
-- in the plain layout, one pass over input and output (at the rate of the activations), for the library reorders them;
-- else what the calls take beyond the processor's peak, or all of it where shapes or peak are not known. The switches
-- of TensorFlow and MXNet also give matrix products, pooling, normalisation and activations to the library: there their
-- time is part of the bound. In PyTorch it is a number of its own in the evidence, for its products are a library's
-- anyway."""
-- why = """oneDNN computes convolutions directly on blocked tensors; im2col writes and reads every input once per
-- filter tap, and plain loops use neither the vector units nor the caches well."""
-- cost = "Results differ in the last bits; the library needs workspace and compiles code at the first call."
-- unless = """oneDNN was disabled for reproducibility across machines, or has no primitive for the data type or
-- dilation, or PyTorch takes its own loops by size (few images)."""
-- needs = ["conv_calls", "cpu_only"]
-- [fix]
-- pytorch = """torch.backends.mkldnn.enabled = True (the default; look for torch.backends.mkldnn.flags(enabled=False)),
-- float32 tensors (bfloat16 only where the processor has AVX512_BF16 or AMX)"""
-- tensorflow = """TF_ENABLE_ONEDNN_OPTS=1 (the default on Linux and x86 since 2.9, but only on processors with
-- AVX512_VNNI, AVX512_BF16, AVX_VNNI or AMX)"""
-- mxnet = "MXNET_ONEDNN_ENABLED=1 (MXNET_MKLDNN_ENABLED in 1.x), the default"
-- keras = "on TensorFlow TF_ENABLE_ONEDNN_OPTS=1"
-- any = "build or switch on the framework's oneDNN"
-- [params]
-- lowered_step_pct = { type = "DOUBLE", default = 5, doc = """found where these calls take more than this share of the
-- step, in percent""" }
-- cpu_turbo = { type = "DOUBLE", default = 1.5, doc = """a processor's clock is at most this many times the one that
-- the system names""" }
WITH switch AS (
    SELECT rank, coalesce(flags->>'$."mkldnn.enabled"' = 'false' OR environment->>'$.TF_ENABLE_ONEDNN_OPTS' = '0'
        OR environment->>'$.MXNET_ONEDNN_ENABLED' = '0' OR environment->>'$.MXNET_MKLDNN_ENABLED' = '0',
            false) AS is_off,
        coalesce(flags->>'$."mkldnn.enabled"' = 'false', false) AS is_pytorch,
        coalesce(flags->>'$."mkldnn.enabled"' = 'true', false) AS is_on,
        -- A primitive shows that the library is on.
        coalesce(NOT onednn_by_default AND json_type(environment) = 'OBJECT'
            AND environment->>'$.TF_ENABLE_ONEDNN_OPTS' IS NULL, false)
            AND rank NOT IN (SELECT rank FROM raw.primitives) AS is_off_by_default
    FROM processes
), part AS (
    SELECT c.rank, c.call_id, c.kind, c.name, c.mean_ns / c.per AS own_ns, p.kind AS primitive
    FROM counted c LEFT JOIN primitives p ON p.id = c.id WHERE c.call_id IS NOT NULL
), call AS (
    SELECT p.rank, p.call_id, sum(p.own_ns) AS own_ns, bool_or(s.is_off OR s.is_off_by_default) AS is_off,
        bool_or(s.is_off) AS is_set, bool_or(s.is_on) AS is_on,
        bool_or(coalesce(p.primitive IN ('gemm_api', 'matmul'), false)
            OR regexp_matches(p.name, '(?i)slow_conv|thnn_conv|im2col|unfold|nnpack|aten::convolution_backward'))
            AS is_product
    FROM part p JOIN switch s USING (rank)
    GROUP BY p.rank, p.call_id
    HAVING NOT bool_or(coalesce(p.primitive IN ('convolution', 'deconvolution'), false))
        AND (bool_or(s.is_off OR s.is_off_by_default) OR bool_or(coalesce(p.primitive IN ('gemm_api', 'matmul'), false))
            OR bool_or(regexp_matches(p.name, '(?i)slow_conv|thnn_conv|im2col|unfold')))
), pointwise AS (
    -- How long one pass over a tensor takes, per byte that it has. One operator may call another for all of its work.
    SELECT rank, max(pass_ns) AS pass_ns FROM (
        SELECT c.rank, c.name, sum(c.mean_ns) / sum(4 * list_product(TRY_CAST(o.shapes->'$[0]' AS BIGINT[]))) AS pass_ns
        FROM counted c JOIN raw.ops o ON o.id = c.op_id
        WHERE c.category = 'activation' AND NOT coalesce(c.op_is_backward, false)
            AND len(TRY_CAST(o.shapes->'$[0]' AS BIGINT[])) = 4
        GROUP BY c.rank, c.name)
    GROUP BY rank
), plain AS (
    SELECT c.rank FROM raw.captures c, json_each(c.options, '$.ranks') p
    WHERE TRY_CAST(p.value->>'$.rank' AS BIGINT) = c.rank AND p.value->>'$.model.input.memory_format' = 'contiguous'
), sized AS (
    SELECT l.rank, l.call_id, any_value(l.own_ns) AS own_ns, any_value(l.is_off) AS is_off,
        any_value(l.is_set) AS is_set, bool_and(l.is_product AND v.flop > 0) AS is_product,
        any_value(v.layer) AS layer, any_value(v.step_ns) AS step_ns, sum(v.flop / v.per) AS flop,
        max(v.element_bytes * (list_product(v.input_shape) + list_product(v.output_shape)) / v.per) AS image_bytes,
        coalesce(sum(f.direct_floor_ns / $cpu_turbo / v.per), 0) AS floor_ns
    -- For numbers of eight bytes (float64, complex) the library has no primitive.
    FROM call l JOIN counted_conv_calls v ON v.op_id = l.call_id
        AND if(l.is_on AND coalesce(v.input_shape[1] = 1 OR list_max(v.filter_shape[3:]) = 1 AND v.input_shape[1] < 16,
            true), coalesce(v.element_bytes, 8) < 4, coalesce(v.element_bytes, 0) < 8)
    LEFT JOIN conv_floors f ON f.op_id = v.op_id AND f.direction = v.direction
    GROUP BY l.rank, l.call_id
), lowered AS (
    SELECT s.*, s.own_ns - if(coalesce(is_product, false),
        greatest(floor_ns, flop / max(flop / own_ns) OVER (PARTITION BY s.rank, s.layer)
            + if(s.rank IN (SELECT rank FROM plain), coalesce(image_bytes * p.pass_ns, 0), 0)), floor_ns) AS lost_ns
    FROM sized s LEFT JOIN pointwise p USING (rank)
), calls AS (
    -- It is one switch: what a pass loses by it counts too.
    SELECT rank, sum(own_ns) AS own_ns, greatest(sum(if(coalesce(is_product, false), lost_ns, greatest(lost_ns, 0))), 0)
            AS lost_ns, bool_or(is_product) AS is_product,
        bool_or(is_off) AS is_off, bool_or(is_set) AS is_set, any_value(step_ns) AS step_ns,
        count(DISTINCT layer) AS n_layers
    FROM lowered GROUP BY rank
), layer AS (
    SELECT rank, layer, sum(own_ns) AS own_ns FROM lowered WHERE layer <> '(no layer)' GROUP BY rank, layer
), placed AS (
    SELECT rank, array_to_string(list(layer ORDER BY own_ns DESC, layer)[:3], ', ') AS place FROM layer GROUP BY rank
), beside AS (
    SELECT c.rank, c.category, sum(c.mean_ns / c.per) AS own_ns FROM counted c
    JOIN calls k ON k.rank = c.rank AND k.is_off
    WHERE c.call_id IS NULL AND c.category IN ('gemm', 'pooling', 'batch_norm', 'layer_norm', 'lrn', 'activation',
        'bias', 'softmax_loss')
    GROUP BY c.rank, c.category
), others AS (
    SELECT rank, sum(own_ns) AS own_ns, string_agg(format('{} {:.3f} ms', category, own_ns / 1e6), ', '
        ORDER BY own_ns DESC, category) AS kinds,
        rank IN (SELECT rank FROM switch WHERE NOT is_pytorch) AS are_its
    FROM beside GROUP BY rank
)
SELECT k.rank,
    format('Convolutions of {} layers take {:.3f} ms without a primitive of the library{}.', k.n_layers,
        k.own_ns / 1e6, if(k.is_off, ', which is switched off', '')) AS problem,
    'Mostly in ' || p.place AS place, k.lost_ns + if(s.are_its, s.own_ns, 0) AS saving_ns,
    CASE WHEN k.is_set THEN 'high that it is off: the switch is recorded; only a run shows how much faster it is'
        WHEN k.is_off THEN 'medium: TensorFlow leaves it off on a processor without AVX512_VNNI, '
            || 'AVX512_BF16, AVX_VNNI or AMX, and no setting says otherwise'
        ELSE 'medium: what runs under the calls says so' END AS confidence,
    list_filter([format('convolutions beyond {}: {:.3f} ms', if(k.is_product,
            'the rate of the fastest pass of each layer, less the reorders of plain images',
            'the peak of the processor, as far as it and their shapes are known'), k.lost_ns / 1e6),
        if(s.are_its, format('other operators that the switch gives to the library, all of their time: {:.3f} ms ({})',
            s.own_ns / 1e6, s.kinds), format('speculative: up to {:.3f} ms more ({:.1f} % of the step) if the '
            || 'primitives of the library for other operators took no time ({})', s.own_ns / 1e6,
            100.0 * s.own_ns / nullif(k.step_ns, 0), s.kinds))],
        lambda x: x IS NOT NULL) AS evidence
FROM calls k LEFT JOIN placed p USING (rank) LEFT JOIN others s USING (rank)
WHERE 100.0 * k.own_ns > $lowered_step_pct * k.step_ns
ORDER BY k.rank
