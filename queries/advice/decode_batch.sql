-- title = "Few tokens at a time in decode"
-- doc = """Iterations of an inference engine that make the next token of each request, whose products have to read all
-- weights for few tokens: below as many as the device computes FLOP while it reads a byte (its peak over its
-- bandwidth), of weights of two bytes, the products are bound by the memory and take no longer for more tokens. The
-- bound is the part of the products' time that as many tokens as that would share, for the same tokens in fewer
-- iterations; attention and all else is taken to grow with the requests, and so are products of experts, of which more
-- tokens read more. Quantised weights are left out: where what is left out takes enough time to be found, and nothing
-- is found in the rest, it cannot tell."""
-- why = """Each iteration reads every weight once, however many requests it serves; attention reads the cache of each
-- request by itself."""
-- cost = "Memory for the keys and values of more requests; each of them gets its tokens a little later."
-- unless = "No more requests wait, or the time of one token matters more than how many there are in a second."
-- needs = ["engine_iterations", "peaks"]
-- [fix]
-- pytorch = """more requests at once: vLLM --max-num-seqs and --gpu-memory-utilization, SGLang --max-running-requests,
-- --cuda-graph-max-bs and --mem-fraction-static, TensorRT-LLM --max_batch_size; a cache of keys and values in fp8 makes
-- room; where requests are few, speculative decoding"""
-- any = "more requests at once, or speculative decoding"
-- [params]
-- decode_pct = { type = "DOUBLE", default = 20, doc = """found above this share of the devices' time in decode, in
-- percent""" }
WITH able AS (
    SELECT rank, any_value(name) AS device, max(greatest(fp16_flop_per_s, bf16_flop_per_s)) AS flop_per_s,
        max(memory_bytes_per_s) AS bytes_per_s
    FROM device_peaks WHERE is_used GROUP BY rank
), work AS (
    SELECT c.rank, i.iteration, any_value(i.generation_tokens) AS tokens, sum(c.mean_ns / c.per) AS busy_ns,
        sum(c.mean_ns / c.per) FILTER (c.category = 'gemm') AS all_products_ns,
        sum(c.mean_ns / c.per) FILTER (c.category = 'gemm'
            AND NOT regexp_matches(c.name, '(?i)moe|grouped|expert|_ogs')) AS product_ns, any_value(c.per) AS per,
        -- Names of Tensile's kernels say the types behind the order of their indices, and much else of one letter.
        -- Those of cuBLASLt begin with the type of the first factor: q, r (8 bits) and o (4 bits).
        bool_or(c.category = 'gemm' AND (regexp_matches(c.name, if(c.name LIKE 'Cijk%', '^Cijk_\w+_\w+_(F8|B8|I8)',
            '(?i)a8w[48]|w[48]a(8|16)|fp[48]|f8|e4m3|e5m2|int[48]|i8816|awq|gptq|marlin|blockscale'
            || '|nvjet_(sm\d+_)?[qro]'))
            OR regexp_matches(concat_ws(' ', o.name, o.types), '(?i)float[48]|scaled_mm|int_mm|signed char')))
            AS is_quantised
    FROM counted c LEFT JOIN raw.ops o ON o.id = c.op_id
    ASOF JOIN iterations i ON i.rank = c.rank AND coalesce(c.launched_ns, c.start_ns) >= i.start_ns
    WHERE i.phase = 'decode' AND i.generation_tokens > 0 AND c.kind <> 'op'
        AND coalesce(c.launched_ns, c.start_ns) <= i.end_ns
    GROUP BY c.rank, i.iteration
), batch AS (
    SELECT w.rank, w.tokens, a.device, a.flop_per_s / a.bytes_per_s AS balance, count(*) AS n,
        sum(w.busy_ns) AS busy_ns, sum(w.product_ns) AS product_ns, avg(w.busy_ns * w.per) AS mean_ns,
        avg(w.product_ns * w.per) AS mean_product_ns, avg(w.product_ns * w.per) * a.bytes_per_s / 1e9 AS most_bytes,
        CASE WHEN count(d.least_ns) < count(*) THEN '; weights, keys and values: sizes not recorded'
            ELSE format('; at most {:,.0f} as the memory reads {:.1f} GB of weights and {}', 1e9 * w.tokens
                / avg(d.least_ns), avg(d.weight_bytes) / 1e9, if(count(d.cache_bytes) = count(*), format('{:.1f} GB of '
                || 'keys and values', avg(d.cache_bytes) / 1e9), 'of keys and values what is recorded nowhere: an '
                || 'upper bound')) || if(sum(d.n_products) > 0, format(', not of {} products', sum(d.n_products)), '')
            END AS allowed
    FROM work w JOIN able a ON a.rank = w.rank
    LEFT JOIN decode_bytes d ON d.rank = w.rank AND d.iteration = w.iteration
    WHERE w.product_ns > 0 AND NOT w.is_quantised AND w.tokens < a.flop_per_s / a.bytes_per_s
    GROUP BY w.rank, w.tokens, a.device, a.flop_per_s, a.bytes_per_s
), few AS (
    SELECT rank,
        format('Decode reads the weights for {:.0f} tokens at a time; for up to {:.0f} its products take no longer by '
            || 'the roofline.', sum(tokens * n) / sum(n), any_value(balance)) AS problem,
        format('Mostly in iterations of {} tokens on {}', arg_max(tokens, product_ns), any_value(device)) AS place,
        sum(product_ns * (1 - tokens / balance)) AS saving_ns,
        'medium: the tokens and the peaks are known, that weights have two bytes is assumed; whether more requests '
            || 'wait, and their keys and values fit, is not recorded' AS confidence,
        list(format('{} tokens, {} times: {:.3f} ms on the device, {:.3f} ms of it products, in which it can read '
            || '{:.1f} GB at most; {:,.0f} tokens/s{}; at {:.0f} tokens at most {:,.0f}', tokens, n, mean_ns / 1e6,
            mean_product_ns / 1e6, most_bytes / 1e9, 1e9 * tokens / mean_ns, allowed, balance,
            1e9 * balance / (mean_product_ns + (mean_ns - mean_product_ns) * balance / tokens))
            ORDER BY product_ns DESC, tokens)[:5] AS evidence
    FROM batch GROUP BY rank
    HAVING 100 * sum(product_ns * (1 - tokens / balance)) > $decode_pct * sum(busy_ns)
)
FROM few
UNION ALL
SELECT rank, NULL, 'operator_sizes', NULL, format('iterations with quantised weights, and products of experts, are '
    || 'left out: their products take {:.1f} % of the devices'' time in decode', 100 * sum(left_out_ns) / sum(busy_ns)),
    NULL
FROM (SELECT *, all_products_ns - if(is_quantised, 0, coalesce(product_ns, 0)) AS left_out_ns FROM work)
WHERE NOT EXISTS (FROM few) GROUP BY rank HAVING 100 * sum(left_out_ns) > $decode_pct * sum(busy_ns)
ORDER BY rank
