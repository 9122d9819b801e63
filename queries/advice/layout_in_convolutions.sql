-- title = "Layout conversions inside convolutions"
-- doc = """Kernels under convolution calls that only reorder a tensor's elements. Filters that TensorFlow converts for
-- cuDNN are not counted. The bound is their time, less what overlaps work that started earlier on the device."""
-- why = """The library computes in a different layout than the tensors have, so it reorders them before and after the
-- math kernels; in the library's own layout no reordering is needed."""
-- cost = "None in memory; results may differ in the last bits because another kernel is chosen."
-- unless = "Operators between the convolutions support only the current layout: then the conversions move there."
-- needs = ["kernels", "kernel_names", "conv_calls"]
-- sees = "graphs"
-- removes = "layout_in_convolutions"
-- [fix]
-- pytorch = """on tensor cores (bf16, fp16, TF32) and Intel GPUs model.to(memory_format=torch.channels_last) and the
-- same for the input, best with torch.autocast; elsewhere in fp32 the default NCHW (on AMD devices channels_last also
-- needs PYTORCH_MIOPEN_SUGGEST_NHWC=1)"""
-- tensorflow = """data_format='channels_first' (NCHW) in fp32 on devices without tensor cores, channels_last (NHWC)
-- with mixed precision on those with them; or let tf.config.optimizer.set_experimental_options({'layout_optimizer':
-- True}) choose"""
-- jax = "dimension_numbers=('NHWC', 'HWIO', 'NHWC') in lax.conv_general_dilated"
-- mxnet = "layout='NHWC' in the convolution and pooling layers with fp16, NCHW in fp32"
-- keras = "keras.config.set_image_data_format: channels_last with mixed precision, channels_first in fp32"
-- any = """give the convolutions their tensors in the layout that the kernels work in (NHWC for tensor cores, NCHW for
-- fp32 kernels before Volta)"""
-- [params]
-- layout_conv_pct = { type = "DOUBLE", default = 10, doc = """found above this share of the time in convolution calls,
-- in percent""" }
WITH every AS MATERIALIZED (
    SELECT id, rank, kind, name, coalesce(layer, op_name) AS layer, category, mean_ns / per AS own_ns,
        dur_ns / per AS dur_ns,
        if(is_continued, 0, 1.0 / per) AS calls
    FROM counted WHERE call_id IS NOT NULL AND rank IN (SELECT rank FROM raw.kernels)
), conv AS (
    SELECT rank, sum(dur_ns) AS conv_ns FROM every GROUP BY rank
), change AS (
    SELECT rank, name, sum(calls) AS calls, sum(own_ns) AS own_ns, sum(dur_ns) AS dur_ns
    FROM every WHERE category = 'layout_transpose' AND id NOT IN (SELECT id FROM filter_conversions) GROUP BY rank, name
), layer AS (
    SELECT rank, layer, sum(own_ns) AS own_ns FROM every
    WHERE category = 'layout_transpose' AND layer IS NOT NULL AND id NOT IN (SELECT id FROM filter_conversions)
    GROUP BY rank, layer
), filter AS (
    SELECT rank, format('not counted, as any layout of images needs them: {:.1f} conversions of filters, {:.3f} ms',
        sum(calls), sum(own_ns) / 1e6) AS text
    FROM filter_conversions WHERE call_id IS NOT NULL GROUP BY rank
), placed AS (
    SELECT rank, array_to_string(list(layer ORDER BY own_ns DESC, layer)[:3], ', ') AS place FROM layer GROUP BY rank
)
SELECT c.rank,
    format('{:.1f} % of the time in convolution calls only changes the layout of tensors.',
        100.0 * sum(c.dur_ns) / any_value(v.conv_ns)) AS problem,
    'Mostly in ' || any_value(p.place) AS place,
    sum(c.own_ns) AS saving_ns,
    'high: the names of the kernels say that they only move data' AS confidence,
    list(format('{}: {:.1f} calls and {:.3f} ms', c.name, c.calls, c.own_ns / 1e6) ORDER BY c.own_ns DESC, c.name)
        || list_filter([any_value(f.text)], lambda line: line IS NOT NULL) AS evidence
FROM change c JOIN conv v USING (rank) LEFT JOIN placed p USING (rank) LEFT JOIN filter f USING (rank)
GROUP BY c.rank
HAVING 100.0 * sum(c.dur_ns) > $layout_conv_pct * any_value(v.conv_ns)
ORDER BY c.rank
