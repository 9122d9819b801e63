-- title = "One algorithm for every layer"
-- doc = """Convolutions of several filters in single precision without tensor cores that all use one algorithm, though
-- some shapes admit a method with fewer operations. The bound is what those layers take beyond the least time that the
-- peaks of the device allow for that method (all of their time where the peaks are not known), less what overlaps work
-- that started earlier on the device."""
-- why = """No algorithm is best for every shape: one choice for the whole network, or a workspace limit that only one
-- algorithm meets, is slow for some shapes."""
-- cost = "Workspace memory for FFT and Winograd; results differ in the last bits."
-- unless = "A search of each layer found this algorithm."
-- needs = ["kernels", "kernel_names", "conv_shapes", "conv_algorithms"]
-- removes = "arithmetic"
-- [fix]
-- pytorch = """torch.backends.cudnn.benchmark = True, torch.backends.cudnn.deterministic = False, and more free memory
-- for workspaces"""
-- tensorflow = "TF_CUDNN_USE_AUTOTUNE=1, a larger TF_CUDNN_WORKSPACE_LIMIT_IN_MB, no TF_DETERMINISTIC_OPS"
-- jax = "no --xla_gpu_deterministic_ops in XLA_FLAGS"
-- mxnet = "cudnn_tune='fastest' and a larger workspace= in the layer, or MXNET_CUDNN_AUTOTUNE_DEFAULT=2"
-- any = """choose per layer (Theano dnn.conv.algo_fwd, algo_bwd_data, algo_bwd_filter = time_once; Caffe: a larger
-- workspace limit)"""
-- [params]
-- one_layers = { type = "BIGINT", default = 3, doc = "found from this number of different filters and strides on" }
-- one_device_pct = { type = "DOUBLE", default = 5, doc = """and where the bound is above this share of device time, in
-- percent""" }
WITH single AS (
    SELECT v.*, k.executed_flop
    FROM counted_conv_calls v JOIN conv_costs k ON k.op_id = v.op_id AND k.direction = v.direction
    WHERE k.arithmetic = 'fp32' AND v.algorithm IS NOT NULL AND v.rank IN (SELECT rank FROM raw.kernels)
), uniform AS (
    SELECT rank, any_value(algorithm) AS algorithm FROM single GROUP BY rank
    HAVING count(DISTINCT algorithm) = 1 AND count(DISTINCT (filter_shape, stride)) >= $one_layers
), own AS (
    SELECT call_id, sum(mean_ns) / nullif(sum(dur_ns), 0) AS part FROM counted
    WHERE call_id IN (SELECT op_id FROM single JOIN uniform USING (rank)) GROUP BY call_id
), call AS (
    SELECT v.rank, v.layer, v.direction, v.total_ns * o.part / v.per AS own_ns, v.total_ns / v.per AS total_ns,
        v.flop, f.floor_ns / v.per AS floor_ns, v.executed_flop,
        (SELECT arg_min(m, m.total_flop) FROM conv_methods m WHERE m.op_id = v.op_id
            AND m.direction = v.direction
            AND m.total_flop < v.flop) AS fewer
    FROM single v JOIN own o ON o.call_id = v.op_id
    LEFT JOIN conv_floors f ON f.op_id = v.op_id AND f.direction = v.direction
), slower AS (
    SELECT c.rank, c.layer, c.direction, any_value(c.fewer.method) AS fewer, sum(c.own_ns) AS own_ns,
        -- At the rate at which it computes now, by the operations of both: no more than its model counts.
        sum(c.own_ns * least(c.fewer.total_flop / coalesce(c.executed_flop, c.flop), 1)) AS counted_ns,
        sum(least(c.own_ns, greatest(c.total_ns - coalesce(c.floor_ns, 0), 0))) AS lost_ns
    FROM call c JOIN uniform USING (rank) WHERE c.fewer IS NOT NULL GROUP BY c.rank, c.layer, c.direction
)
SELECT s.rank,
    format('Every convolution is computed as {}; {} layers admit a method with fewer operations.',
        any_value(u.algorithm), count(DISTINCT s.layer))
        AS problem,
    'Mostly in ' || nullif(arg_max(s.layer, s.lost_ns), '(no layer)') AS place, sum(s.lost_ns) AS saving_ns,
    'medium: fewer operations are not always less time' AS confidence,
    list_prepend(format('by operations the cheapest method of each of these layers would take {:.3f} ms instead of '
            || '{:.3f} ms', sum(s.counted_ns) / 1e6, sum(s.own_ns) / 1e6),
        list(format('{} {}: {:.3f} ms, {} has fewer operations', s.layer, s.direction, s.own_ns / 1e6, s.fewer)
            ORDER BY s.lost_ns DESC, s.layer, s.direction)) AS evidence
FROM slower s JOIN uniform u USING (rank) JOIN device_busy b USING (rank)
GROUP BY s.rank
HAVING 100.0 * sum(s.lost_ns) > $one_device_pct * any_value(b.busy_ns)
ORDER BY s.rank
