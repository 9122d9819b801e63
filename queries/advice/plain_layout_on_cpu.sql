-- title = "Plain layout on a CPU"
-- doc = """oneDNN reorders of activations from or to the plain layout (NCHW), around convolutions. The bound is those
-- reorders, pooling and normalisation in that layout, and what the convolutions take beyond the processor's peak (all
-- of their arithmetic where that is not known): in channels_last the library also picks other implementations."""
-- why = """The library computes in blocked or channels-last layouts and reorders every plain tensor on the way in and
-- out; in channels_last the tensors pass from layer to layer as they are."""
-- cost = "No memory and no accuracy beyond the last bits."
-- unless = "Operators between the convolutions exist only for the plain layout: then the reorders move there."
-- needs = ["primitives", "cpu_only"]
-- [fix]
-- pytorch = """model.to(memory_format=torch.channels_last) and the same for the input; for inference also
-- torch.utils.mkldnn.to_mkldnn(model)"""
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
WITH moved AS (
    SELECT c.rank, c.call_id, coalesce(c.layer, c.op_name) AS layer, c.alone_ns / c.per AS own_ns,
        1.0 / c.per AS calls, c.step_ns
    FROM counted c JOIN primitives p ON p.id = c.id LEFT JOIN conv_shapes s ON s.op_id = c.call_id
    -- Filters have four sizes too: those of their convolution.
    WHERE p.kind = 'reorder' AND c.category = 'layout_transpose' AND regexp_matches(p.shape, '^\d+x\d+x\d+x\d+')
        AND regexp_matches(p.formats, ':abc(d|de)?:') AND p.shape IS DISTINCT FROM array_to_string(s.filter_shape, 'x')
), reorders AS (
    SELECT rank, sum(own_ns) AS own_ns, sum(calls) AS calls, any_value(step_ns) AS step_ns FROM moved GROUP BY rank
), layer AS (
    SELECT rank, layer, sum(own_ns) AS own_ns FROM moved WHERE layer IS NOT NULL GROUP BY rank, layer
), placed AS (
    SELECT rank, array_to_string(list(layer ORDER BY own_ns DESC, layer)[:3], ', ') AS place FROM layer GROUP BY rank
), arithmetic AS (
    SELECT v.rank, sum(greatest(v.main_ns - coalesce(f.direct_floor_ns / $cpu_turbo, 0), 0) / v.per) AS own_ns
    FROM counted_conv_calls v LEFT JOIN conv_floors f ON f.op_id = v.op_id AND f.direction = v.direction
    WHERE v.op_id IN (SELECT call_id FROM moved) GROUP BY v.rank
), beside AS (
    SELECT rank, sum(alone_ns / per) AS own_ns FROM counted
    WHERE category IN ('pooling', 'batch_norm', 'lrn', 'resize') AND call_id IS NULL GROUP BY rank
), part AS (
    SELECT rank, 'reorders of activations' AS what, own_ns FROM reorders
    UNION ALL
    SELECT rank, 'convolutions beyond the peak of the processor', own_ns FROM arithmetic
    UNION ALL
    SELECT rank, 'pooling and normalisation', own_ns FROM beside
)
SELECT r.rank,
    format('{:.1f} reorders of activations from or to the plain layout take {:.3f} ms.', any_value(r.calls),
        any_value(r.own_ns) / 1e6) AS problem,
    'Above all in ' || any_value(l.place) AS place, sum(p.own_ns) AS saving_ns,
    'high that the reorders go; how much faster the implementations of the other layout are, a run shows' AS confidence,
    list(format('{}: {:.3f} ms', p.what, p.own_ns / 1e6) ORDER BY p.own_ns DESC, p.what) AS evidence
FROM reorders r JOIN part p USING (rank) LEFT JOIN placed l USING (rank)
GROUP BY r.rank
HAVING 100.0 * any_value(r.own_ns) > $plain_step_pct * any_value(r.step_ns)
ORDER BY r.rank
