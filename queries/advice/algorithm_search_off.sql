-- title = "Algorithm search is disabled"
-- doc = """The library's search for the fastest convolution is switched off by a recorded setting, in a run with
-- convolutions on a device. The bound is what they take beyond the least time that the peaks of the device allow for
-- the cheapest method that each shape admits (all of their time where shapes or peaks are not known)."""
-- why = """Without a search the library picks an algorithm by a heuristic; measuring once per shape finds the fastest
-- algorithm that fits into memory."""
-- cost = """The search takes time in the first step and memory for workspaces; results may differ between runs in the
-- last bits."""
-- unless = "Shapes change from step to step (each new shape is searched again), or results must be reproducible."
-- needs = ["kernels", "conv_calls", "search_setting"]
-- [fix]
-- pytorch = "torch.backends.cudnn.benchmark = True"
-- tensorflow = "TF_CUDNN_USE_AUTOTUNE=1 (the default)"
-- jax = "no --xla_gpu_autotune_level=0 in XLA_FLAGS"
-- mxnet = "MXNET_CUDNN_AUTOTUNE_DEFAULT=1, or 2 without a limit of workspace"
-- keras = "on torch torch.backends.cudnn.benchmark = True; on TensorFlow TF_CUDNN_USE_AUTOTUNE=1"
-- any = """switch the search on (Theano dnn.conv.algo_fwd=time_once, Torch7 cudnn.benchmark=true, Caffe2
-- cudnn_exhaustive_search)"""
-- [params]
-- search_device_pct = { type = "DOUBLE", default = 5, doc = """found where convolutions take more than this share of
-- device time, in percent""" }
WITH setting AS (
    SELECT rank, setting AS off FROM search_settings WHERE way = 'heuristic'
), own AS (
    SELECT call_id, sum(mean_ns / per) AS own_ns FROM counted WHERE call_id IS NOT NULL AND kind = 'kernel'
    GROUP BY call_id
), layer AS (
    SELECT v.rank, v.layer, v.direction, sum(o.own_ns * v.total_ns / c.call_ns) AS own_ns,
        -- What began earlier beside a call goes on without it: the least time may pass there.
        sum(least(o.own_ns * v.total_ns / c.call_ns,
            greatest(v.total_ns - coalesce(f.floor_ns, 0), 0) / v.per)) AS lost_ns
    FROM counted_conv_calls v JOIN own o ON o.call_id = v.op_id
    JOIN (SELECT op_id, sum(total_ns) AS call_ns FROM counted_conv_calls GROUP BY op_id HAVING sum(total_ns) > 0) c
        ON c.op_id = v.op_id
    LEFT JOIN conv_floors f ON f.op_id = v.op_id AND f.direction = v.direction
    GROUP BY v.rank, v.layer, v.direction
)
SELECT l.rank, format('{}; convolutions take {:.3f} ms.', any_value(s.off), sum(l.own_ns) / 1e6) AS problem,
    'Mostly in ' || nullif(arg_max(l.layer, l.lost_ns), '(no layer)') AS place, sum(l.lost_ns) AS saving_ns,
    'high that no search runs; only a search shows whether there is anything faster' AS confidence,
    list(format('{} {}: {:.3f} ms', l.layer, coalesce(l.direction, ''), l.own_ns / 1e6)
        ORDER BY l.lost_ns DESC, l.layer, l.direction)[:20] AS evidence
FROM layer l JOIN setting s ON s.rank = l.rank AND s.off IS NOT NULL JOIN device_busy b ON b.rank = l.rank
GROUP BY l.rank
HAVING 100.0 * sum(l.own_ns) > $search_device_pct * any_value(b.busy_ns)
ORDER BY l.rank
