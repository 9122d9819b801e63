-- title = "Attention that is not one kernel"
-- doc = """Attention that runs as products, softmax and what is between them (scale, mask, dropout), each of which
-- reads and writes the scores of every query for every key; found by the sizes of these operators, in the forward pass
-- and in its gradient. The bound is their time, less what overlaps earlier work on the device, less the least that a
-- fused kernel takes: the FLOP of its products at the peak of their type (half of them where a mask may spare the
-- rest; in the gradient the scores once more), those of its softmax, or the bytes of queries, keys, values and results
-- at the memory's bandwidth, whichever is most. What of this is not known of a device is not subtracted."""
-- why = """The scores, queries times keys for every head, go through the memory once per operator. A fused kernel keeps
-- them on the chip: it moves only queries, keys, values and the result."""
-- cost = "Other rounding, and in the gradient another order of sums; the weights of attention cannot be looked at."
-- unless = """The program needs the weights themselves (output_attentions), or changes them in a way no fused kernel
-- has."""
-- needs = ["operator_sizes", "attention_sizes"]
-- removes = "unfused_attention"
-- [fix]
-- pytorch = """torch.nn.functional.scaled_dot_product_attention(q, k, v, ...) in place of the formula (transformers:
-- attn_implementation='sdpa' or 'flash_attention_2'). Its fused kernels want half precision for flash, is_causal=True
-- rather than a mask of its own, and a head size of at most 256"""
-- pytorch_cpu = """torch.nn.functional.scaled_dot_product_attention(q, k, v, ...) in place of the formula, without
-- dropout and with is_causal=True rather than a mask (transformers: attn_implementation='sdpa')"""
-- jax = "jax.nn.dot_product_attention(q, k, v, implementation='cudnn')"
-- jax_cpu = "jax.nn.dot_product_attention(q, k, v)"
-- any = "the framework's fused attention in place of products and softmax"
-- [params]
-- attention_step_pct = { type = "DOUBLE", default = 2, doc = "found above this share of the step, in percent" }
WITH part AS (
    SELECT *, alike(coalesce(module, '(no module)')) AS place FROM unfused_attention
), math AS (
    SELECT rank, pid, tid, start_ns, start_ns + dur_ns AS end_ns, shapes, types, inputs FROM raw.ops
    WHERE name = 'aten::_scaled_dot_product_attention_math'
), instance AS (
    SELECT rank, softmax_id, is_backward, bool_or(is_masked) AS is_masked, any_value(batch) AS batch, any_value(m) AS m,
        any_value(n) AS n, max(d) AS d, any_value(module) AS module, any_value(place) AS place, any_value(per) AS per,
        any_value(step_ns) AS step_ns, sum(own_ns) AS own_ns,
        sum(own_ns) FILTER (part = 'softmax') AS softmax_ns, sum(own_ns) FILTER (part = 'product') AS product_ns,
        any_value(dtype) FILTER (part = 'product') AS dtype,
        if(is_masked, 0.5, 1) * if(is_backward, 1.25, 1) AS share,
        coalesce(1e9 * share * sum(matrix_flop) / max(peak_flop_per_s) FILTER (part = 'product'), 0) AS matrix_ns,
        coalesce(1e9 * if(is_masked, 0.5, 1) * sum(vector_flop) FILTER (part = 'softmax') / max(vector_flop_per_s), 0)
            AS vector_ns,
        CASE WHEN any_value(dtype) FILTER (part = 'product') IN ('fp16', 'bf16') THEN 2 ELSE 4 END
            * (any_value(batch) * any_value(m) + min(products) * any_value(n)) * sum(d) AS bytes,
        coalesce(1e9 * bytes / max(memory_bytes_per_s), 0) AS memory_ns,
        bool_or(peak_flop_per_s IS NOT NULL AND memory_bytes_per_s IS NOT NULL) AS is_rated,
        arg_min({pid: pid, tid: tid, start_ns: start_ns}, start_ns) FILTER (part = 'product') AS first
    FROM part GROUP BY rank, softmax_id, is_backward, is_masked
), told AS (
    SELECT i.*, greatest(i.own_ns - greatest(i.matrix_ns, i.vector_ns, i.memory_ns) / i.per, 0) AS lost_ns,
        m.rank IS NOT NULL AND i.first.start_ns < m.end_ns AS is_math,
        if(is_math, format('its math path ran (mask {}, {}, head size {}, dropout {})',
            if(coalesce(m.shapes->>'$[3]', '[]') = '[]', 'none', 'given'), i.dtype, i.d,
            coalesce(nullif(m.inputs->>'$[4]', ''), '?')), NULL) AS reason
    FROM instance i ASOF LEFT JOIN math m ON m.rank = i.rank AND m.pid IS NOT DISTINCT FROM i.first.pid
        AND m.tid IS NOT DISTINCT FROM i.first.tid AND i.first.start_ns >= m.start_ns
), kinds AS (
    SELECT rank, place, is_backward, batch, m, n, d, dtype, any_value(reason) AS reason,
        count(DISTINCT module) AS n_modules, sum(1 / per) AS times, sum(own_ns) AS own_ns,
        sum(softmax_ns) AS softmax_ns, sum(product_ns) AS product_ns, sum(lost_ns) AS lost_ns,
        bool_and(is_rated) AS is_rated,
        any_value(step_ns) AS step_ns, count(*) FILTER (is_math) AS n_math
    FROM told GROUP BY ALL
)
SELECT rank,
    format('Attention runs operator by operator {:.1f} times: {:.3f} ms, {:.3f} ms of it softmax. One kernel would '
        || 'take {:.3f} ms at least. {}', sum(times), sum(own_ns) / 1e6, sum(softmax_ns) / 1e6,
        (sum(own_ns) - sum(lost_ns)) / 1e6,
        if(sum(n_math) > 0, 'It is that of scaled_dot_product_attention, of which ' || max(reason) || '.',
            'The program writes it out itself.')) AS problem,
    format('Mostly in {}{}', if(arg_max(n_modules, lost_ns) > 1, arg_max(n_modules, lost_ns) || ' modules ', ''),
        nullif(arg_max(place, lost_ns), '(no module)')) AS place,
    sum(lost_ns) AS saving_ns,
    if(bool_and(is_rated), 'high that it is not one kernel, by the sizes of its operators; no kernel reaches the peaks '
        || 'that its bound rests on', 'medium: it is not one kernel, by the sizes of its operators; without the peaks '
        || 'of the device the bound is too high') AS confidence,
    list(format('{} {}, {} x {} queries x {} keys x {}, {}: {:.1f} times {:.3f} ms (products {:.3f} ms, '
        || 'softmax {:.3f} ms), fused at least {:.3f} ms', place, if(is_backward, 'backward', 'forward'), batch, m, n,
        d, dtype, times, own_ns / times / 1e6, product_ns / times / 1e6, softmax_ns / times / 1e6,
        (own_ns - lost_ns) / times / 1e6)
        ORDER BY lost_ns DESC, place, m, n, is_backward)[:10] AS evidence
FROM kinds GROUP BY rank
HAVING 100.0 * sum(lost_ns) > $attention_step_pct * any_value(step_ns)
ORDER BY rank
