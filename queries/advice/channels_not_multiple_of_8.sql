-- title = "Channel counts that are not multiples of 8"
-- doc = """Convolutions and matrix products in half precision or TF32, on a device with tensor cores, whose channels
-- are not multiples of 8: for a product both sizes of its weights, which its gradients share. Sizes of the batch or the
-- sequence and products of two activations (attention; by a square matrix, as of the nodes of a graph) do not
-- count, and neither do an input of at most four channels, which is an image, and depthwise convolutions. The second
-- factor of any other product is taken for weights. The bound is their time beyond the least that the peak of the
-- device allows, less what overlaps work that started earlier on the device."""
-- why = "Tensor cores work on tiles of 8 or 16 values: other sizes are padded by extra kernels, or run on slower ones."
-- cost = "A few more weights than the model needs."
-- unless = "The size is fixed (classes, vocabulary): then pad only the tensor."
-- needs = ["kernels", "peaks", "shapes", "linked_work"]
-- sees = "products"
-- removes = "arithmetic"
-- [fix]
-- pytorch = "sizes of nn.Conv2d and nn.Linear as multiples of 8 (pad the vocabulary, the classes)"
-- tensorflow = "filters and units as multiples of 8"
-- jax = "features as multiples of 8"
-- mxnet = "channels and units as multiples of 8"
-- keras = "filters and units as multiples of 8"
-- any = "channels as multiples of 8"
-- [params]
-- odd_step_pct = { type = "DOUBLE", default = 1, doc = "found above this share of the step, in percent" }
WITH able AS (
    SELECT rank, max(tf32_flop_per_s) AS tf32, max(fp16_flop_per_s) AS fp16 FROM device_peaks
    WHERE is_used AND has_tensor_cores GROUP BY rank
), padded AS (
    SELECT v.* FROM counted_conv_calls v JOIN conv_costs k ON k.op_id = v.op_id AND k.direction = v.direction
    WHERE k.arithmetic IN ('fp16', 'bf16', 'tf32') AND (v.filter_shape[1] % 8 <> 0 OR v.filter_shape[2] % 8 <> 0
        AND v.filter_shape[2] > 4)
        AND NOT (v.groups > 1 AND v.filter_shape[2] = 1)
), own AS (
    SELECT call_id, sum(mean_ns) / nullif(sum(dur_ns), 0) AS part FROM counted
    WHERE call_id IN (SELECT op_id FROM padded) GROUP BY call_id
), conv AS (
    SELECT v.rank, v.layer AS place,
        format('{} {} filter {}', v.layer, v.direction, array_to_string(v.filter_shape, ' x ')) AS what,
        v.total_ns * o.part / v.per AS own_ns, v.total_ns / v.per AS total_ns,
        f.direct_floor_ns / v.per AS floor_ns, v.step_ns
    FROM padded v JOIN own o ON o.call_id = v.op_id
    LEFT JOIN conv_floors f ON f.op_id = v.op_id AND f.direction = v.direction
), product AS (
    SELECT c.rank, c.op_id, any_value(coalesce(c.layer, c.op_name)) AS place, sum(c.mean_ns / c.per) AS own_ns,
        sum(c.dur_ns / c.per) AS total_ns, any_value(c.per) AS per,
        any_value(c.step_ns) AS step_ns, bool_or(is_tf32(c.name)) AS is_tf32
    FROM counted c WHERE c.kind = 'kernel' AND c.category = 'gemm' AND c.op_id IS NOT NULL GROUP BY c.rank, c.op_id
), weights AS (
    -- A product of batches multiplies two activations; a batch of just as many rows as odd channels is unlikely.
    SELECT * FROM matmul_shapes
    WHERE batch = 1 AND (m IS DISTINCT FROM k OR k % 8 = 0) AND NOT regexp_matches(name, '(?i)bmm|batch_?mat_?mul')
), unaligned AS (
    -- Channels of the forward products: a gradient's third size is rows of the batch.
    SELECT DISTINCT rank, unnest([k, n]) AS size FROM weights WHERE NOT coalesce(is_backward, false)
), gemm AS (
    SELECT p.rank, p.place, format('{} {} x {} by {} x {}', m.name, m.m, m.k, m.k, m.n) AS what, p.own_ns, p.total_ns,
        1e9 * m.flop / if(p.is_tf32 AND NOT regexp_matches(m.dtype, '(?i)half|bfloat16'), a.tf32, a.fp16) / p.per
            AS floor_ns, p.step_ns
    FROM product p JOIN weights m ON m.op_id = p.op_id JOIN able a ON a.rank = p.rank
    WHERE (p.is_tf32 OR regexp_matches(m.dtype, '(?i)half|bfloat16'))
        AND EXISTS (FROM unaligned o WHERE o.rank = p.rank AND o.size % 8 <> 0
            AND o.size IN (m.k, m.n, if(m.is_backward, m.m, m.k)))
), kinds AS (
    SELECT rank, place, what, sum(least(own_ns, greatest(total_ns - coalesce(floor_ns, 0), 0))) AS lost_ns,
        sum(own_ns) AS own_ns,
        any_value(step_ns) AS step_ns
    FROM (FROM conv UNION ALL FROM gemm) GROUP BY rank, place, what
)
SELECT k.rank, format('{} {:.3f} ms on tiles that {} not fill.',
    if(count(*) = 1, '1 shape of convolutions and products takes',
        count(*) || ' shapes of convolutions and products take'),
    sum(k.own_ns) / 1e6, if(count(*) = 1, 'it does', 'they do')) AS problem,
    'Mostly in ' || nullif(arg_max(k.place, k.lost_ns), '(no layer)') AS place, sum(k.lost_ns) AS saving_ns,
    'medium: the sizes are recorded; what the padding costs, and that second factors of products are weights, is not'
        AS confidence,
    list(format('{}: {:.3f} ms', k.what, k.own_ns / 1e6) ORDER BY k.lost_ns DESC, k.what)[:20] AS evidence
FROM kinds k JOIN able a USING (rank)
GROUP BY k.rank
HAVING 100.0 * sum(k.lost_ns) > $odd_step_pct * any_value(k.step_ns)
ORDER BY k.rank
