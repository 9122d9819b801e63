-- title = "Bias before a batch normalisation"
-- doc = """Convolutions that add a bias and whose result goes into a batch normalisation: the next thing on the device,
-- another convolution included, that is not a layout change, copy or cast, and as large as the result where both sizes
-- are recorded. The bound is the time of the additions and of the bias's gradient, less what overlaps work that started
-- earlier on the device. A bias fused into the convolution has no time of its own and is not found. Fixed statistics do
-- not follow the bias: it has to be subtracted from their mean."""
-- why = """In training, batch normalisation subtracts the mean, and with it any bias: the addition, its gradient and
-- its weights have no effect."""
-- cost = "None at run time; loading checkpoints that contain these biases must be adapted."
-- unless = "The normalisation uses fixed statistics from elsewhere."
-- needs = ["conv_calls", "batch_norms"]
-- removes = "convolution_biases"
-- [fix]
-- pytorch = "nn.Conv2d(..., bias=False) before nn.BatchNorm2d"
-- tensorflow = "no bias_add before batch_normalization (use_bias=False)"
-- jax = "use_bias=False (flax, haiku with_bias=False)"
-- mxnet = "gluon.nn.Conv2D(..., use_bias=False), no_bias=True"
-- keras = "Conv2D(..., use_bias=False) before BatchNormalization"
-- any = "no bias in the convolution"
-- [params]
-- bias_norm_step_pct = { type = "DOUBLE", default = 0.5, doc = "found above this share of the step, in percent" }
WITH conv AS MATERIALIZED (
    SELECT op_id, rank, layer, filter_shape, output_shape, end_ns FROM counted_conv_calls
    WHERE direction = 'fprop' AND (bias_ns > 0 OR parameters > list_product(filter_shape))
), every AS MATERIALIZED (
    SELECT id, rank, call_id, op_id, category, name, start_ns, mean_ns / per AS own_ns, step_ns FROM counted
    WHERE rank IN (SELECT rank FROM conv)
), later AS (
    SELECT rank, start_ns, category, name, op_id FROM every
    WHERE category NOT IN ('layout_transpose', 'copy', 'cast', 'fill', 'memset', 'bias', 'other')
), normed AS (
    SELECT c.rank, c.layer, c.filter_shape, c.op_id, regexp_matches(concat_ws(' ', n.name, o.name),
        'bn_fw_inf|FwdInfer|no_training|no_update') OR coalesce(contains(o.name, 'batch_norm')
        AND o.inputs->>'$[5]' = 'False', false) AS is_fixed
    FROM conv c ASOF JOIN later n ON n.rank = c.rank AND n.start_ns >= c.end_ns LEFT JOIN raw.ops o ON o.id = n.op_id
    WHERE n.category = 'batch_norm' AND coalesce(list_product(c.output_shape)
        = list_product(TRY_CAST(o.shapes AS BIGINT[][])[1]), true)
), lost AS (
    SELECT v.rank, v.layer, e.name, e.own_ns, e.step_ns
    FROM (SELECT DISTINCT op_id, rank, layer FROM counted_conv_calls v WHERE v.op_id IN (SELECT op_id FROM normed)
        OR (v.direction <> 'fprop'
        AND (v.rank, v.layer, v.filter_shape) IN (SELECT (rank, layer, filter_shape) FROM normed))) v
    JOIN every e ON e.call_id = v.op_id AND e.category = 'bias'
), kinds AS (
    SELECT rank, layer, count(DISTINCT name) AS n, sum(own_ns) AS own_ns, any_value(step_ns) AS step_ns FROM lost
    GROUP BY rank, layer
)
SELECT rank, if(count(*) = 1, '1 layer adds', count(*) || ' layers add')
    || if(is_fixed, ' a bias that is not needed before the next batch normalisation.',
        ' a bias that the next batch normalisation removes again.') AS problem,
    'Mostly in ' || nullif(arg_max(layer, own_ns), '(no layer)') AS place, sum(own_ns) AS saving_ns,
    if(is_fixed, 'medium: fixed statistics (training=False): where it is not trained, subtract it from their mean',
        'high: the normalisation follows the convolution on the device') AS confidence,
    list(format('{}: {:.3f} ms', layer, own_ns / 1e6) ORDER BY own_ns DESC, layer) AS evidence
FROM kinds JOIN (SELECT rank, bool_or(is_fixed) AS is_fixed FROM normed GROUP BY rank) USING (rank)
GROUP BY rank, is_fixed
HAVING 100.0 * sum(own_ns) > $bias_norm_step_pct * any_value(step_ns)
ORDER BY rank
