-- title = "Convolutions far from the roofline of their best method"
-- doc = """Passes of layers that take more than twice what they would at the share of the roofline that the best layer
-- with filters of the same size and type reaches in the same direction. The roofline is that of the method with fewest
-- operations which the shape admits (in single precision; else of the direct one), every tensor moved once. A filter of
-- 1x1 is a matrix product in every direction, so that the products of the recording set the share, too. The bound is
-- the time beyond that, less what overlaps work that started earlier on the device. Where no layer reaches a quarter of
-- its roofline nothing is said: `small_grids` and `host_bound` look at work that is too small."""
-- why = """Layers of one kind differ because the library chose another algorithm, layout or tile for some of them; a
-- search by time finds what the others have."""
-- cost = "Workspace and a search in the first steps; other algorithms round differently."
-- unless = """A search of each layer found this algorithm, or the layer's image or batch is too small to fill the
-- device."""
-- needs = ["kernels", "conv_shapes", "peaks"]
-- removes = "arithmetic"
-- [fix]
-- pytorch = """torch.backends.cudnn.benchmark = True where sizes stay the same (ROCm: MIOPEN_FIND_MODE=1), and
-- model.to(memory_format=torch.channels_last): a 1x1 convolution is then a product of matrices as they are"""
-- tensorflow = "TF_CUDNN_USE_AUTOTUNE=1 (the default), and NHWC in half precision"
-- jax = "XLA_FLAGS=--xla_gpu_autotune_level=4 (the default), and NHWC"
-- any = "a search by time for each layer, and channels last"
-- [params]
-- slower_layer = { type = "DOUBLE", default = 2, doc = "found above this many times what the best layer would take" }
-- reached_part = { type = "DOUBLE", default = 0.25, doc = "where the best layer reaches this part of its roofline" }
-- slow_convs_step_pct = { type = "DOUBLE", default = 2, doc = "found above this share of the step, in percent" }
WITH call AS MATERIALIZED (
    SELECT v.rank, v.op_id, v.direction, v.layer, v.filter_shape, v.filter_shape[3:] AS taps, v.algorithm, k.arithmetic,
        v.total_ns, v.per, v.step_ns, k.arithmetic = 'fp32' AND list_product(taps) > 1 AS is_any,
        if(is_any, f.floor_ns, f.direct_floor_ns) AS least_ns
    FROM counted_conv_calls v JOIN conv_costs k ON k.op_id = v.op_id AND k.direction = v.direction
    JOIN conv_floors f ON f.op_id = v.op_id AND f.direction = v.direction
    WHERE v.groups = 1 AND NOT v.transposed AND v.total_ns > 0 AND v.rank IN (SELECT rank FROM raw.kernels)
), own AS (
    SELECT call_id, sum(mean_ns) / nullif(sum(dur_ns), 0) AS part FROM counted
    WHERE call_id IN (SELECT op_id FROM call) GROUP BY call_id
), method AS (
    SELECT op_id, direction, arg_min(method, total_flop) AS method FROM conv_methods
    WHERE (op_id, direction) IN (SELECT (op_id, direction) FROM call WHERE is_any) GROUP BY op_id, direction
), kinds AS (
    SELECT c.rank, c.layer, c.direction, c.filter_shape, c.taps, c.algorithm, c.arithmetic,
        if(list_product(c.taps) = 1, 'a product', format('{} {}', c.direction, CAST(c.taps AS VARCHAR))) AS likeness,
        if(likeness = 'a product', likeness, coalesce(m.method, 'the direct method')) AS method,
        sum(1 / c.per) AS calls, sum(c.total_ns * o.part / c.per) AS own_ns, sum(c.least_ns / c.per) AS least_ns,
        least(sum(c.least_ns) / sum(c.total_ns), 1) AS part, any_value(c.step_ns) AS step_ns
    FROM call c JOIN own o ON o.call_id = c.op_id
    LEFT JOIN method m ON m.op_id = c.op_id AND m.direction = c.direction GROUP BY ALL
), product AS (
    SELECT rank, dtype AS arithmetic, sum(floor_ns) / sum(own_ns) AS part FROM op_floors
    WHERE family = 'gemm' AND matrix_flop > 0 AND floor_ns > 0 GROUP BY ALL
), best AS (
    SELECT rank, arithmetic, likeness, max(part) AS part, arg_max(place, part) AS place FROM (
        SELECT rank, arithmetic, likeness, part, layer || ' ' || direction AS place FROM kinds
        UNION ALL SELECT rank, arithmetic, 'a product', part, 'the products' FROM product
    ) GROUP BY ALL HAVING max(part) >= $reached_part
), slow AS (
    SELECT k.*, k.least_ns / b.part AS usual_ns, k.own_ns - k.least_ns / b.part AS lost_ns, b.place AS best_place,
        b.part AS best_part
    FROM kinds k JOIN best b ON b.rank = k.rank AND b.arithmetic = k.arithmetic
        AND b.likeness = k.likeness
    WHERE k.own_ns > $slower_layer * k.least_ns / b.part
)
SELECT rank,
    format('{} of the passes of layers take {:.3f} ms; as near to their roofline as the best, {:.3f} ms.', count(*),
        sum(own_ns) / 1e6, sum(usual_ns) / 1e6) AS problem,
    'Mostly in ' || nullif(arg_max(layer, lost_ns), '(no layer)') AS place, sum(lost_ns) AS saving_ns,
    'medium: sizes and peaks are known; whether the library has an algorithm that reaches as much here is not'
        AS confidence,
    list(format('{} {} filter {}, {}{}: {:.1f} calls, {:.3f} ms; {} takes {:.3f} ms at the {:.0f} % of the roofline '
        || 'that {} reaches', layer, direction, array_to_string(filter_shape, ' x '), arithmetic,
        coalesce(', ' || algorithm, ''), calls, own_ns / 1e6, method, usual_ns / 1e6, 100 * best_part, best_place)
        ORDER BY lost_ns DESC, layer, direction)[:10] AS evidence
FROM slow GROUP BY rank
HAVING 100.0 * sum(lost_ns) > $slow_convs_step_pct * any_value(step_ns)
ORDER BY rank
