-- title = "Depthwise convolutions far from the memory's bandwidth"
-- doc = """Convolutions with one input channel in each group, which compute so little that the memory bounds them, and
-- that take more than twice as long as moving input, filter and output once. The bound is their time beyond that, less
-- what overlaps work that started earlier on the device."""
-- why = """Kernels for depthwise convolutions differ by an order of magnitude between layouts, types and sizes; the
-- library's general ones fill tiles with products of which most are by zero."""
-- cost = "Channels last has to hold for the layers around them too, or conversions eat the gain."
-- unless = "The layers around them are faster in the layout that there is."
-- needs = ["kernels", "conv_shapes", "peaks"]
-- removes = "arithmetic"
-- [fix]
-- pytorch = """model.to(memory_format=torch.channels_last) and the same for the images, with autocast in half
-- precision; torch.backends.cudnn.benchmark = True where sizes stay the same"""
-- tensorflow = "NHWC with mixed precision; TF_CUDNN_USE_AUTOTUNE=1"
-- any = "the other layout, half precision, and a search for the algorithm"
-- [params]
-- depthwise_times = { type = "DOUBLE", default = 2, doc = "found above this many times the least time" }
-- depthwise_step_pct = { type = "DOUBLE", default = 2, doc = "found above this share of the step, in percent" }
WITH depthwise AS (
    SELECT v.rank, v.op_id, v.direction, coalesce(v.layer, '(no layer)') AS layer, v.filter_shape, v.dtype,
        v.algorithm, v.step_ns, v.per, v.total_ns, 1e9 * k.moved_bytes / k.memory_bytes_per_s AS least_ns
    FROM counted_conv_calls v JOIN conv_costs k ON k.op_id = v.op_id AND k.direction = v.direction
    WHERE v.groups > 1 AND v.filter_shape[2] = 1 AND k.memory_bytes_per_s > 0
        AND v.rank IN (SELECT rank FROM raw.kernels)
), own AS (
    SELECT call_id, sum(mean_ns) / nullif(sum(dur_ns), 0) AS part FROM counted
    WHERE call_id IN (SELECT op_id FROM depthwise) GROUP BY call_id
), kinds AS (
    SELECT d.rank, d.layer, d.direction, d.filter_shape, d.dtype, d.algorithm, sum(1 / d.per) AS calls,
        sum(d.total_ns * o.part / d.per) AS own_ns,
        sum(least(d.least_ns, d.total_ns * o.part) / d.per) AS least_ns, any_value(d.step_ns) AS step_ns
    FROM depthwise d JOIN own o ON o.call_id = d.op_id GROUP BY ALL
    HAVING sum(d.total_ns * o.part) > $depthwise_times * sum(d.least_ns)
)
SELECT rank,
    format('Depthwise convolutions take {:.3f} ms; to move their tensors once takes {:.3f} ms.', sum(own_ns) / 1e6,
        sum(least_ns) / 1e6) AS problem,
    'Mostly in ' || nullif(arg_max(layer, own_ns - least_ns), '(no layer)') AS place,
    sum(own_ns - least_ns) AS saving_ns,
    'medium: sizes and bandwidth are known; no kernel reaches the bandwidth, and whether a faster one is there is not '
        || 'recorded' AS confidence,
    list(format('{} {} filter {} {}{}: {:.1f} calls, {:.3f} ms, at least {:.3f} ms', layer, direction,
        array_to_string(filter_shape, ' x '), coalesce(dtype, ''), coalesce(', ' || algorithm, ''), calls,
        own_ns / 1e6, least_ns / 1e6) ORDER BY own_ns - least_ns DESC, layer, direction)[:10] AS evidence
FROM kinds GROUP BY rank
HAVING 100.0 * sum(own_ns - least_ns) > $depthwise_step_pct * any_value(step_ns)
ORDER BY rank
