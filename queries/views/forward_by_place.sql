-- doc = """Convolution calls of which no kernel tells the pass (FFT serves all three) and that run between forward
-- calls of a step, before its first gradient: they are forward. What runs among gradients may be of data or filter, in
-- any order, and stays without a pass. One row per call."""
-- materialize = true
-- empty_without = ["attributed.part"]
-- types = """call_id BIGINT, direction VARCHAR"""
WITH call AS (
    SELECT p.call_id, any_value(k.rank) AS rank, arg_min(k.step, k.start_ns) AS step, min(k.start_ns) AS start_ns,
        coalesce(bool_or(p.direction = 'fprop'), false) AS is_fprop,
        coalesce(bool_or(p.direction IN ('dgrad', 'wgrad')), false) AS is_gradient
    FROM attributed.part p JOIN raw.kernels k ON k.id = p.id
    WHERE p.call_id IS NOT NULL
    GROUP BY p.call_id
), pass AS (
    SELECT rank, step, max(start_ns) FILTER (is_fprop) AS last_ns, min(start_ns) FILTER (is_gradient) AS turn_ns
    FROM call WHERE step IS NOT NULL GROUP BY rank, step
)
SELECT c.call_id, 'fprop' AS direction
FROM call c JOIN pass p ON p.rank = c.rank AND p.step = c.step
WHERE NOT c.is_fprop AND NOT c.is_gradient AND c.start_ns < p.last_ns AND p.last_ns < p.turn_ns
