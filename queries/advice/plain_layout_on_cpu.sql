-- title = "Plain layout on a CPU"
-- doc = """oneDNN reorders of activations between the plain layout (NCHW) and a blocked or channels-last one, where
-- convolutions of images and volumes run; not those of signals, filters, recurrent layers and products, nor those that
-- also change the type, which another layout still needs.
-- The bound is the time of these reorders and, where they are found, of PyTorch's max pooling in the forward pass,
-- which has vector code for channels_last alone (about a tenth of the time). In channels_last the library also picks
-- other implementations. What that may give besides is a second number in the evidence: at most what the convolutions
-- take beyond the processor's peak, and what pooling and normalisation take. It is left out where the processor is not
-- known to have AVX-512."""
-- why = """The library computes in blocked or channels-last layouts and reorders every plain tensor on the way in and
-- out; in channels_last the tensors pass from layer to layer as they are."""
-- cost = "None in memory; results may differ in the last bits."
-- unless = "Operators between the convolutions support only the plain layout: then the reorders move there."
-- needs = ["primitives", "cpu_only"]
-- [fix]
-- pytorch = """model.to(memory_format=torch.channels_last) and the same for the input (both channels_last_3d where the
-- convolutions are 3-d); for inference also torch.utils.mkldnn.to_mkldnn(model)"""
-- tensorflow = "data_format='channels_last', the default"
-- mxnet = """sym.optimize_for('ONEDNN') or MXNET_SUBGRAPH_BACKEND=ONEDNN (MKLDNN in 1.x), which keeps the library's
-- layout between layers"""
-- keras = "keras.config.set_image_data_format('channels_last')"
-- any = "keep tensors in the layout of the library from layer to layer"
-- [params]
-- plain_step_pct = { type = "DOUBLE", default = 1, doc = """found where the reorders take more than this share of the
-- step, in percent""" }
-- cpu_turbo = { type = "DOUBLE", default = 1.5, doc = """a processor's clock is at most this many times the one that
-- the system names""" }
WITH reorder AS (
    SELECT id, shape,
        -- src:f32::blocked:abcd::f0 dst:..., before oneDNN 3 src_f32::blocked:abcd:f0, in MKL-DNN 0.x in:f32_nchw
        regexp_extract_all(formats, '(?:src|dst|in|out)[:_]([a-z]+\d+)', 1) AS types,
        regexp_extract_all(formats, '(?:blocked:|(?:in|out):[a-z]+\d+_)(\w+)', 1) AS layouts
    FROM primitives WHERE kind = 'reorder'
), moved AS (
    SELECT c.rank, c.call_id, coalesce(c.layer, c.op_name) AS layer, c.mean_ns / c.per AS own_ns,
        1.0 / c.per AS calls, c.step_ns
    FROM counted c JOIN reorder p ON p.id = c.id LEFT JOIN conv_shapes s ON s.op_id = c.call_id
    -- Filters have four sizes too: those of their convolution, or blocks of output channels first (a capital A).
    WHERE c.category = 'layout_transpose' AND p.shape IS DISTINCT FROM array_to_string(s.filter_shape, 'x')
        AND regexp_matches(p.shape, '^\d+x\d+x\d+x\d+') AND p.types[1] = p.types[2]
        -- Signals of one dimension, which have no other layout in a framework, are images of one row for the library.
        AND NOT coalesce(len(s.input_shape) = 3, false)
        -- From or to a layout of images: heads of attention are moved between others (acbd, abdc).
        AND len(list_filter(p.layouts, lambda x: x IN ('abcd', 'abcde', 'nchw', 'ncdhw'))) = 1
        AND len(list_filter(p.layouts, lambda x: regexp_matches(x, '^(aBcde?\d+b|acde?b|nCd?hw\d+c|nd?hwc)$'))) = 1
        AND c.rank IN (SELECT rank FROM counted WHERE category = 'conv' OR call_id IS NOT NULL)
        -- Recurrent layers and products have sizes of as many parts, and no channels.
        AND NOT coalesce(regexp_matches(c.op_name, '(?i)rnn|lstm|gru|linear|matmul|attention|mm$'), false)
), reorders AS (
    SELECT rank, sum(own_ns) AS own_ns, sum(calls) AS calls, any_value(step_ns) AS step_ns FROM moved GROUP BY rank
), layer AS (
    SELECT rank, layer, sum(own_ns) AS own_ns FROM moved WHERE layer IS NOT NULL GROUP BY rank, layer
), placed AS (
    SELECT rank, array_to_string(list(layer ORDER BY own_ns DESC, layer)[:3], ', ') AS place FROM layer GROUP BY rank
), rest AS (
    SELECT v.rank, sum(greatest(v.main_ns - coalesce(f.direct_floor_ns / $cpu_turbo, 0), 0) / v.per) AS own_ns
    FROM counted_conv_calls v LEFT JOIN conv_floors f ON f.op_id = v.op_id AND f.direction = v.direction
    WHERE v.op_id IN (SELECT call_id FROM moved) GROUP BY v.rank
    UNION ALL
    SELECT rank, sum(mean_ns / per) FROM counted
    WHERE category IN ('pooling', 'batch_norm', 'lrn', 'resize') AND call_id IS NULL
        AND NOT (name = 'aten::max_pool2d_with_indices' AND NOT coalesce(op_is_backward, false)) GROUP BY rank
), speculative AS (
    SELECT rank, sum(own_ns) AS own_ns FROM rest GROUP BY rank
), pooling AS (
    SELECT rank, sum(mean_ns / per) AS own_ns FROM counted
    WHERE name = 'aten::max_pool2d_with_indices' AND NOT coalesce(op_is_backward, false) GROUP BY rank
)
SELECT r.rank,
    format('{:.1f} reorders of activations from or to the plain layout take {:.3f} ms.', r.calls, r.own_ns / 1e6)
        AS problem,
    'Mostly in ' || l.place AS place, r.own_ns + coalesce(g.own_ns, 0) AS saving_ns,
    'high for the reorders: their formats are recorded; the rest is speculative until a run shows it' AS confidence,
    list_filter([format('reorders of activations: {:.3f} ms', r.own_ns / 1e6),
        format('max pooling in the plain layout, forward: {:.3f} ms', g.own_ns / 1e6),
        CASE WHEN p.simd_bits >= 512 THEN format('speculative: up to {:.3f} ms more ({:.1f} % of the step) if the '
                || 'implementations of the other layout reach the peak of the processor',
                coalesce(s.own_ns, 0) / 1e6, 100.0 * coalesce(s.own_ns, 0) / nullif(r.step_ns, 0))
            WHEN p.simd_bits IS NULL THEN 'beyond the reorders nothing is known: the instruction sets are not recorded'
            ELSE 'nothing beyond the reorders is promised: the processor has no AVX-512' END],
        lambda line: line IS NOT NULL) AS evidence
FROM reorders r LEFT JOIN speculative s USING (rank) LEFT JOIN placed l USING (rank) LEFT JOIN processes p USING (rank)
LEFT JOIN pooling g USING (rank)
WHERE 100.0 * r.own_ns > $plain_step_pct * r.step_ns
ORDER BY r.rank
