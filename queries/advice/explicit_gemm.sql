-- title = "Convolutions by explicit GEMM (im2col)"
-- doc = """Convolutions that first write their input unrolled (im2col) and then multiply. The bound is the time of the
-- unrolling, and where Winograd is admissible and usually faster, also of the multiplications that it saves; both less
-- what overlaps work that started earlier on the device."""
-- why = """Implicit GEMM reads the elements in place, so the unrolled copy is never written or read; Winograd needs
-- 2.25 to 4 times fewer multiplications on 3x3 filters."""
-- cost = "None for implicit GEMM; Winograd needs the workspace given in the evidence and rounds differently."
-- unless = "The library has no implicit algorithm for this type of data."
-- needs = ["kernels", "kernel_names", "conv_calls", "conv_algorithms"]
-- sees = "graphs"
-- [fix]
-- pytorch = "torch.backends.cudnn.enabled = True and, with fixed shapes, torch.backends.cudnn.benchmark = True"
-- tensorflow = """TF_CUDNN_USE_AUTOTUNE=1 (the default), and TF_CUDNN_WORKSPACE_LIMIT_IN_MB above the workspace given
-- in the evidence"""
-- jax = "XLA_FLAGS=--xla_gpu_autotune_level=4 (the default)"
-- mxnet = "a build with cuDNN, cudnn_off=False, MXNET_CUDNN_AUTOTUNE_DEFAULT=1"
-- keras = "the option of its back-end (PyTorch: torch.backends.cudnn.benchmark = True)"
-- any = """use the library's implicit or Winograd convolution (Caffe: engine: CUDNN instead of CAFFE; Theano:
-- dnn.conv.algo_fwd = 'time_once')"""
-- [params]
-- explicit_conv_pct = { type = "DOUBLE", default = 2, doc = """found above this share of the time in convolution calls,
-- in percent""" }
WITH part AS MATERIALIZED (
    SELECT call_id AS op_id, direction, sum(mean_ns) FILTER (role = 'transform') AS unrolling_ns,
        sum(mean_ns) FILTER (role = 'main') AS main_ns
    FROM counted WHERE kind = 'kernel' AND category = 'conv' AND call_id IS NOT NULL GROUP BY call_id, direction
), conv AS (
    SELECT rank, sum(total_ns / per) AS conv_ns FROM counted_conv_calls GROUP BY rank
), unrolled AS MATERIALIZED (
    -- A 1x1 filter needs no unrolling: its explicit product is as good as an implicit one.
    SELECT c.rank, c.op_id, c.direction, c.layer, c.filter_shape, c.per, c.total_ns, c.transform_ns,
        coalesce(p.unrolling_ns, 0) AS unrolling_ns, coalesce(p.main_ns, 0) AS main_ns
    FROM counted_conv_calls c JOIN part p ON p.op_id = c.op_id AND p.direction IS NOT DISTINCT FROM c.direction
    WHERE c.algorithm = 'explicit_gemm' AND c.transform_ns > 0
), winograd AS (
    SELECT op_id, direction, arg_min(algorithm, place) AS algorithm, arg_min(direct_ratio, place) AS ratio,
        arg_min(workspace_bytes, place) AS workspace_bytes
    FROM conv_admissible WHERE place = 1 AND algorithm LIKE 'winograd%' AND direct_ratio > 1
        AND (op_id, direction) IN (SELECT (op_id, direction) FROM unrolled)
    GROUP BY op_id, direction
), saved AS (
    SELECT u.*, coalesce(w.algorithm, 'implicit GEMM') AS other, w.workspace_bytes,
        u.unrolling_ns + u.main_ns * coalesce(1 - 1 / w.ratio, 0) AS saved_ns
    FROM unrolled u LEFT JOIN winograd w ON w.op_id = u.op_id AND w.direction = u.direction
), layer AS (
    SELECT rank, layer, direction, other, sum(1.0 / per) AS calls, sum(total_ns / per) AS total_ns,
        sum(saved_ns / per) AS saved_ns,
        sum(transform_ns / per) AS transform_ns, max(workspace_bytes) AS workspace_bytes
    FROM saved GROUP BY ALL
)
SELECT l.rank,
    format('{:.1f} % of the time in convolution calls is in calls that unroll their input first.',
        100.0 * sum(l.total_ns) / any_value(c.conv_ns))
        AS problem,
    'Mostly in '
        || array_to_string((list(l.layer ORDER BY l.saved_ns DESC, l.layer) FILTER (l.layer <> '(no layer)'))[:3],
        ', ') AS place,
    sum(l.saved_ns) AS saving_ns,
    if(bool_or(l.other <> 'implicit GEMM'),
        'medium: the unrolling is named by its kernels; what Winograd saves beyond that is judged by operations',
        'high: the unrolling is named by its kernels') AS confidence,
    list(format('{} {}: {:.1f} calls and {:.3f} ms, of it {:.3f} ms unrolling; {} needs {}', l.layer,
        coalesce(l.direction, 'convolution'),
        l.calls, l.total_ns / 1e6, l.transform_ns / 1e6, l.other,
        if(l.workspace_bytes IS NULL, 'no workspace', format('{:.1f} MB of workspace', l.workspace_bytes / 1e6)))
        ORDER BY l.saved_ns DESC, l.layer, l.direction) AS evidence
FROM layer l JOIN conv c USING (rank)
GROUP BY l.rank
HAVING 100.0 * sum(l.total_ns) > $explicit_conv_pct * any_value(c.conv_ns)
ORDER BY l.rank
