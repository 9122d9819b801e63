-- title = "Layout conversions between operators"
-- doc = """Kernels and primitives outside convolution calls that only reorder a tensor's elements; reorders of
-- activations by a CPU library are plain_layout_on_cpu. Checked only where convolutions run: without them there is no
-- image layout to choose, and a transpose is part of the model. Filters that TensorFlow converts for cuDNN are not
-- counted, nor what XLA moves for a convolution itself or ONNX Runtime for its blocked ones (ReorderInput,
-- ReorderOutput), nor what gives a tensor another shape (pixel_shuffle, SpaceToDepth), nor what has no operator and may
-- be inside a convolution, where others have one. Without operators all outside known calls count. The bound is their
-- time, less what overlaps work that started earlier on the device."""
-- why = """The program or the framework transposes tensors between operators that need different layouts; with one
-- layout throughout, this is unnecessary."""
-- cost = "None in memory or accuracy."
-- unless = """The transpose is part of the model (attention heads, sequence first): then a fused operator avoids it,
-- not a layout."""
-- needs = ["activities"]
-- sees = "graphs"
-- removes = "layout_between_operators"
-- [fix]
-- pytorch = """one memory format throughout: model and input to torch.channels_last, no .permute(...).contiguous()
-- between layers; torch.compile fuses what remains"""
-- tensorflow = """data_format='NCHW' (channels_first) in every layer on a GPU in fp32, NHWC with mixed precision on
-- tensor cores, and no tf.transpose between them"""
-- tensorflow_cpu = "data_format='channels_last' (NHWC) in every layer, and no tf.transpose between them"
-- jax = "one dimension_numbers in every convolution; jit the whole step so that XLA removes what it can"
-- mxnet = "one layout in every layer"
-- keras = "one image_data_format, no Permute layers"
-- any = "keep tensors in one layout from input to loss"
-- [params]
-- layout_device_pct = { type = "DOUBLE", default = 5, doc = "found above this share of device time, in percent" }
WITH conversion AS (
    SELECT rank, name, coalesce(op_name, '(no operator)') AS operator, has_place,
        sum(if(is_continued, 0, 1.0 / per)) AS calls, sum(mean_ns / per) AS own_ns
    FROM loose_conversions
    WHERE rank IN (SELECT rank FROM counted WHERE category = 'conv' OR call_id IS NOT NULL)
    GROUP BY rank, name, op_name, has_place
), change AS (
    FROM conversion WHERE has_place
), lost AS (
    SELECT rank, sum(calls) AS calls, sum(own_ns) AS own_ns FROM conversion WHERE NOT has_place GROUP BY rank
), filter AS (
    SELECT rank, format('not counted, as any layout of images needs them: {:.1f} conversions of filters, {:.3f} ms',
        sum(calls), sum(own_ns) / 1e6) AS text
    FROM filter_conversions WHERE call_id IS NULL GROUP BY rank
), placed AS (
    SELECT rank, array_to_string(list(operator ORDER BY own_ns DESC, operator)[:3], ', ') AS place
    FROM (SELECT rank, operator, sum(own_ns) AS own_ns FROM change WHERE operator <> '(no operator)' GROUP BY ALL)
    GROUP BY rank
), found AS (
    SELECT c.rank,
        format('{:.1f} % of the device''s busy time changes the layout of tensors{}.',
            100.0 * sum(c.own_ns) / any_value(b.busy_ns), if(c.rank IN (SELECT rank FROM recorded WHERE ops > 0),
            ' between operators', '; which operators do it, and whether convolutions, is not recorded')) AS problem,
        'Mostly under ' || any_value(p.place) AS place,
        sum(c.own_ns) AS saving_ns,
        'medium: the names say that they only move data, but not whether the model needs it' AS confidence,
        list(format('{} under {}: {:.1f} calls and {:.3f} ms', c.name, c.operator, c.calls, c.own_ns / 1e6)
            ORDER BY c.own_ns DESC, c.name, c.operator)
            || list_filter([any_value(f.text), any_value(format('not counted, as no operator is recorded for them: '
                || '{:.1f} calls, {:.3f} ms', l.calls, l.own_ns / 1e6))], lambda line: line IS NOT NULL) AS evidence
    FROM change c JOIN device_busy b USING (rank) LEFT JOIN placed p USING (rank) LEFT JOIN filter f USING (rank)
    LEFT JOIN lost l USING (rank)
    GROUP BY c.rank
    HAVING 100.0 * sum(c.own_ns) > $layout_device_pct * any_value(b.busy_ns)
)
FROM found
UNION ALL
SELECT rank, NULL, 'launches', NULL,
    format('{:.1f} % of the device''s busy time changes the layout of tensors with no operator recorded for it: it may '
        || 'be inside convolutions', 100.0 * l.own_ns / b.busy_ns), NULL
FROM lost l JOIN device_busy b USING (rank)
LEFT JOIN (SELECT rank, sum(own_ns) AS own_ns FROM change GROUP BY rank) c USING (rank)
WHERE NOT EXISTS (FROM found) AND 100.0 * (l.own_ns + coalesce(c.own_ns, 0)) > $layout_device_pct * b.busy_ns
ORDER BY rank
