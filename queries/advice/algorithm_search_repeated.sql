-- title = "Algorithm search repeated in many steps"
-- doc = """Convolution calls under which several algorithms ran, in more than one step after warm-up. The bound is the
-- time of these calls beyond the shortest call of the same layer and direction that did not search, or beyond their own
-- shortest main kernel, if that is longer: one algorithm has to run."""
-- why = "The library searches again for every new shape; if shapes change from step to step, the search never ends."
-- cost = "Padding to few shapes adds computation; without a search a slower algorithm may be chosen."
-- unless = "The shapes repeat after some steps: then the search ends by itself."
-- needs = ["kernels", "kernel_names", "conv_calls", "several_steps"]
-- [fix]
-- pytorch = "pad inputs to few shapes, drop_last=True, or torch.backends.cudnn.benchmark = False (or benchmark_limit)"
-- tensorflow = """pad inputs to few shapes (padded_batch, bucket_by_sequence_length, drop_remainder=True), or
-- TF_CUDNN_USE_AUTOTUNE=0"""
-- jax = "pad inputs to few shapes: each new one is compiled and searched anew"
-- mxnet = "pad inputs to few shapes, or MXNET_CUDNN_AUTOTUNE_DEFAULT=0"
-- any = "pad inputs to few shapes, or switch the search off"
-- [params]
-- repeated_step_pct = { type = "DOUBLE", default = 1, doc = "found above this share of the step, in percent" }
WITH call AS (
    SELECT op_id, rank, layer, direction, step, total_ns, per, step_ns, input_shape,
        len(algorithms) > 1 AS is_search
    FROM counted_conv_calls
), plain AS (
    SELECT rank, layer, direction, min(total_ns) AS least_ns FROM call WHERE NOT is_search
    GROUP BY rank, layer, direction
), needed AS (
    SELECT call_id, min(dur_ns) AS least_ns FROM counted WHERE category = 'conv' AND role = 'main' GROUP BY call_id
), layers AS (
    SELECT c.rank, c.layer, c.direction, count(*) AS calls, count(DISTINCT c.step) AS steps,
        count(DISTINCT c.input_shape) AS shapes,
        sum(greatest(c.total_ns - greatest(p.least_ns, n.least_ns, 0), 0) / c.per) AS lost_ns,
        any_value(c.step_ns) AS step_ns
    FROM call c LEFT JOIN plain p ON p.rank = c.rank AND p.layer = c.layer
        AND p.direction IS NOT DISTINCT FROM c.direction
    LEFT JOIN needed n ON n.call_id = c.op_id
    WHERE c.is_search GROUP BY c.rank, c.layer, c.direction
), searched AS (
    SELECT rank, count(DISTINCT step) AS steps FROM call WHERE is_search GROUP BY rank
)
SELECT l.rank,
    if(sum(l.calls) = 1, '1 call runs', sum(l.calls) || ' calls run') || format(' several algorithms, in {}{}.',
        if(any_value(s.steps) = 1, '1 step', any_value(s.steps) || ' steps'),
        if(max(l.shapes) > 1, format('; a layer sees up to {} shapes', max(l.shapes)), '')) AS problem,
    'Mostly in ' || nullif(arg_max(l.layer, l.lost_ns), '(no layer)') AS place, sum(l.lost_ns) AS saving_ns,
    if(max(l.shapes) > 1, 'high: several algorithms under one call, and shapes that change',
        'medium: several algorithms under one call; no change of shapes is recorded') AS confidence,
    list(format('{} {}: {} calls with {} shapes, {:.3f} ms', l.layer, coalesce(l.direction, ''), l.calls, l.shapes,
        l.lost_ns / 1e6)
        ORDER BY l.lost_ns DESC, l.layer, l.direction) AS evidence
FROM layers l JOIN searched s USING (rank)
GROUP BY l.rank
HAVING any_value(s.steps) > 1 AND 100.0 * sum(l.lost_ns) > $repeated_step_pct * any_value(l.step_ns)
ORDER BY l.rank
