-- title = "Slow convolution algorithms"
-- doc = """Convolutions of cuDNN in fp32, the only ones whose usual order was measured, that are computed by another
-- algorithm than the one that is usually the fastest for their shape and that the library admits. Where that one runs
-- elsewhere in the trace on filters of the same size, its rate there says what the call would take; else modelled FLOPs
-- say how much of the arithmetic can go; it never takes less than the device's peaks allow. Biases and activations in
-- kernels of their own do not count. The bound is the time beyond the fastest such rate, less what overlaps work that
-- started earlier on the device."""
-- why = """A library that may not search, or may not use enough workspace, picks an algorithm that always works;
-- algorithms differ several-fold in speed on the same shape."""
-- cost = """Workspace as given in the evidence; a search takes time in the first step, and other algorithms round
-- differently."""
-- unless = """Shapes change from step to step (a search would run each time), results must be bitwise equal, or
-- memory is near its limit."""
-- needs = ["kernels", "kernel_names", "conv_shapes", "conv_strides", "conv_algorithms", "ranked_convs"]
-- sees = "graphs"
-- removes = "arithmetic"
-- [fix]
-- pytorch = """torch.backends.cudnn.benchmark = True with fixed shapes, and no CUDNN_CONV_WSCAP_DBG below the workspace
-- that the evidence names"""
-- tensorflow = """TF_CUDNN_USE_AUTOTUNE=1 (the default) and TF_CUDNN_WORKSPACE_LIMIT_IN_MB above the workspace that the
-- evidence names"""
-- jax = """XLA_FLAGS=--xla_gpu_autotune_level=4 (the default), and memory left free for the search
-- (XLA_PYTHON_CLIENT_MEM_FRACTION)"""
-- mxnet = """MXNET_CUDNN_AUTOTUNE_DEFAULT=2 (the fastest without a limit) or a larger workspace= of the convolution
-- layers"""
-- keras = "the option of its back-end (PyTorch: torch.backends.cudnn.benchmark = True)"
-- any = """let the library search for the fastest algorithm, with the workspace that the evidence names (Caffe limits
-- it to 8 MB)"""
-- [params]
-- slower_ratio = { type = "DOUBLE", default = 1.5, doc = """found where a call takes this many times what the better
-- algorithm would""" }
WITH own AS MATERIALIZED (
    SELECT call_id AS op_id, direction, sum(mean_ns) AS own_ns FROM counted
    WHERE kind = 'kernel' AND call_id IS NOT NULL AND category NOT IN ('bias', 'activation') GROUP BY call_id, direction
), call AS MATERIALIZED (
    SELECT c.rank, c.op_id, c.direction, c.layer, c.algorithm, c.input_shape, c.filter_shape,
        c.filter_shape[3:] AS taps, c.stride, c.per,
        c.flop, c.total_ns, c.flop / c.total_ns AS rate, least(o.own_ns, c.total_ns) AS own_ns,
        coalesce(f.floor_ns, 0) AS floor_ns
    FROM (SELECT * REPLACE (total_ns - bias_ns - activation_ns AS total_ns) FROM counted_conv_calls) c
    JOIN own o ON o.op_id = c.op_id AND o.direction IS NOT DISTINCT FROM c.direction
    LEFT JOIN conv_floors f ON f.op_id = c.op_id AND f.direction = c.direction
    WHERE c.flop IS NOT NULL AND c.total_ns > 0 AND c.algorithm IS NOT NULL
), option AS MATERIALIZED (
    SELECT a.* FROM conv_admissible a WHERE a.place IS NOT NULL
        AND (a.op_id, a.direction) IN (SELECT (op_id, direction) FROM call)
), rate AS (
    SELECT rank, direction, taps, stride, algorithm, median(rate) AS usual, max(rate) AS best,
        list(DISTINCT filter_shape) AS filters FROM call GROUP BY rank, direction, taps, stride, algorithm
), better AS (
    -- What is admissible, usually faster than what was used, and has run: its rate counts.
    SELECT c.op_id, c.direction, o.place, o.algorithm, o.workspace_bytes, u.workspace_bytes AS used_bytes,
        c.flop / r.usual AS usual_ns,
        c.flop / r.best AS best_ns, if(list_contains(r.filters, c.filter_shape), 1, 2) AS source
    FROM call c JOIN option u ON u.op_id = c.op_id AND u.direction = c.direction AND u.is_used
    JOIN option o ON o.op_id = c.op_id AND o.direction = c.direction AND o.place < u.place
    JOIN rate r ON r.rank = c.rank AND r.direction = c.direction AND r.taps = c.taps AND r.stride = c.stride
        AND r.algorithm = o.algorithm
    UNION ALL
    -- It has not run on such a filter: the arithmetic that the model counts less.
    SELECT c.op_id, c.direction, o.place, o.algorithm, o.workspace_bytes, u.workspace_bytes,
        c.total_ns * u.direct_ratio / o.direct_ratio,
        c.total_ns * u.direct_ratio / o.direct_ratio, 3
    FROM call c JOIN option u ON u.op_id = c.op_id AND u.direction = c.direction AND u.is_used
    JOIN option o ON o.op_id = c.op_id AND o.direction = c.direction AND o.place < u.place AND o.place = 1
    WHERE (c.rank, c.direction, c.taps, c.stride, o.algorithm) NOT IN (SELECT (rank, direction, taps, stride, algorithm)
        FROM rate)
), chosen AS (
    SELECT c.*, b.algorithm AS other, b.workspace_bytes, b.source, greatest(b.usual_ns, c.floor_ns) AS usual_ns,
        coalesce(b.workspace_bytes, 0) > coalesce(b.used_bytes, 0) AS needs_more,
        least(c.own_ns, greatest(c.total_ns - greatest(b.best_ns, c.floor_ns), 0)) AS saved_ns
    FROM call c JOIN better b USING (op_id, direction)
    WHERE c.total_ns > $slower_ratio * greatest(b.usual_ns, c.floor_ns)
    QUALIFY row_number() OVER (PARTITION BY c.op_id, c.direction ORDER BY b.source > 2, b.place, b.algorithm) = 1
), layer AS (
    SELECT rank, layer, direction, algorithm, other, source, input_shape, filter_shape, sum(1.0 / per) AS calls,
        sum(total_ns / per) AS total_ns, sum(usual_ns / per) AS usual_ns, sum(saved_ns / per) AS saved_ns,
        max(workspace_bytes) AS workspace_bytes, bool_or(needs_more) AS needs_more
    FROM chosen GROUP BY ALL
)
SELECT rank,
    format('{} of the convolutions run an algorithm that is slow for their shape{}.', count(*),
        coalesce(format('; for {} of them the faster one needs more workspace, up to {:.1f} MB',
            nullif(count(*) FILTER (needs_more), 0), max(workspace_bytes) FILTER (needs_more) / 1e6), ''))
        AS problem,
    'Mostly in ' || array_to_string((list(layer ORDER BY saved_ns DESC, layer) FILTER (layer <> '(no layer)'))[:3],
        ', ') AS place,
    sum(saved_ns) AS saving_ns,
    CASE max(source)
        WHEN 1 THEN 'high: the other algorithm runs in this trace on filters of this size, with as many channels '
            || 'among them, and its rate there is the measure'
        WHEN 2 THEN 'medium: the other algorithm runs in this trace on filters of this size, but of other channels, '
            || 'and its rate there is the measure'
        ELSE 'low: the other algorithm does not run in this trace on filters of this size; only its operations are '
        || 'counted' END AS confidence,
    list(format('{} {} {} through {}: {} {:.3f} ms, {} {:.3f} ms ({}; workspace {})', layer, direction,
        array_to_string(input_shape, 'x'), array_to_string(filter_shape, 'x'), algorithm, total_ns / 1e6, other,
        usual_ns / 1e6,
        if(source < 3, 'at its rate in this trace', 'by operations'),
        if(workspace_bytes IS NULL, 'small', format('{:.1f} MB', workspace_bytes / 1e6)))
            ORDER BY saved_ns DESC, layer, direction)
        AS evidence
FROM layer
GROUP BY rank
ORDER BY rank
