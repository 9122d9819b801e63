-- title = "A requested algorithm did not run"
-- doc = """Convolutions for which a setting asks for an algorithm, but another one ran: the framework or the library
-- falls back silently where the conditions of the algorithm are not met. This trace cannot tell how long the requested
-- one would take, so there is no bound; the evidence says how long the other one took, and which condition was not
-- met."""
-- why = """The setting holds for all layers, and layers that do not meet its conditions fall back to a matrix product,
-- which may be slower than what a choice per layer would give."""
-- cost = "A choice per layer costs a search in the first step."
-- unless = "Only the layers that meet the conditions were meant."
-- needs = ["kernels", "kernel_names", "conv_calls", "algorithm_request"]
-- [fix]
-- pytorch = "torch.backends.cudnn.benchmark = True, which chooses per layer"
-- any = """choose per layer: Theano dnn.conv.algo_fwd, algo_bwd_data, algo_bwd_filter = time_once (time_on_shape_change
-- where shapes change)"""
-- [params]
-- absent_conv_pct = { type = "DOUBLE", default = 5, doc = """found where these calls take more than this share of the
-- time in convolution calls, in percent""" }
WITH conv AS (
    SELECT rank, sum(total_ns / per) AS conv_ns FROM counted_conv_calls GROUP BY rank
), missed AS (
    SELECT v.rank, v.layer, v.direction, r.setting, r.algorithm AS asked, v.algorithm AS ran,
        sum(v.total_ns / v.per) AS own_ns, min(array_to_string(a.reasons, '; ')) AS reasons, any_value(a.op_id) AS known
    FROM counted_conv_calls v JOIN requested_algorithms r ON r.rank = v.rank AND r.direction = v.direction
    LEFT JOIN conv_admissible a ON a.op_id = v.op_id AND a.direction = v.direction AND a.algorithm = r.algorithm
    WHERE v.algorithm <> r.algorithm
    GROUP BY v.rank, v.layer, v.direction, r.setting, r.algorithm, v.algorithm
)
SELECT m.rank,
    format('{}: {:.1f} % of the time in convolution calls is in other algorithms.',
        array_to_string(list_sort(list(DISTINCT m.setting)), ', '), 100.0 * sum(m.own_ns) / any_value(c.conv_ns))
        AS problem,
    'Mostly in ' || nullif(arg_max(m.layer, m.own_ns), '(no layer)') AS place, CAST(NULL AS DOUBLE) AS saving_ns,
    'high that another one ran; this trace does not show whether the requested one is faster' AS confidence,
    list(format('{} {}: {} instead of {}, {:.3f} ms ({})', m.layer, m.direction, m.ran, m.asked, m.own_ns / 1e6,
        CASE WHEN m.known IS NULL THEN 'its conditions cannot be checked here' WHEN m.reasons = '' THEN 'admissible'
            ELSE m.reasons END)
        ORDER BY m.own_ns DESC, m.layer, m.direction, m.ran) AS evidence
FROM missed m JOIN conv c USING (rank)
GROUP BY m.rank
HAVING 100.0 * sum(m.own_ns) > $absent_conv_pct * any_value(c.conv_ns)
ORDER BY m.rank
