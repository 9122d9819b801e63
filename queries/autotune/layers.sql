-- title = "Winners and losers by layer"
-- doc = """Layers and directions of which the first calls ran kernels that later calls did not, or tried several
-- algorithms in one call."""
-- cannot = """No kernel of a convolution occurs only at the start (or there are fewer than three iterations, or no
-- convolutions)."""
-- [params]
-- first = { type = "BIGINT", default = 1, doc = "iterations in which a search may run" }
-- [columns]
-- rank = "process of the job"
-- layer = "layer, or the filter's shape"
-- direction = "fprop, dgrad or wgrad"
-- winner = "algorithm of the later calls"
-- tried = "algorithms in the first iterations"
-- lost = "kernels that only the first iterations ran"
-- first_ns = "time of the first call"
-- later_ns = "median time of the later calls"
-- calls = "calls in the recording"
WITH trial AS (
    SELECT call_id, direction, min(iteration) AS iteration, any_value(n_iterations) AS n_iterations
    FROM conv_trials WHERE call_id IS NOT NULL GROUP BY call_id, direction
), loser AS (
    SELECT call_id, direction, list(DISTINCT name) AS lost
    FROM conv_trials WHERE call_id IS NOT NULL AND last_iteration <= $first GROUP BY call_id, direction
), per_call AS (
    SELECT c.rank, coalesce(c.layer, array_to_string(c.filter_shape, 'x'), '(no layer)') AS layer, c.direction,
        c.algorithm, c.algorithms, c.total_ns, t.iteration, t.n_iterations, l.lost
    FROM conv_calls c
    JOIN trial t ON t.call_id = c.op_id AND t.direction IS NOT DISTINCT FROM c.direction
    LEFT JOIN loser l ON l.call_id = c.op_id AND l.direction IS NOT DISTINCT FROM c.direction
)
SELECT rank, layer, direction, mode(algorithm) FILTER (iteration > $first) AS winner,
    array_to_string(list_sort(list_distinct(flatten(list(algorithms) FILTER (iteration <= $first)))), ', ') AS tried,
    coalesce(len(list_distinct(flatten(list(lost) FILTER (lost IS NOT NULL)))), 0) AS lost,
    min(total_ns) FILTER (iteration = 1) AS first_ns, median(total_ns) FILTER (iteration > $first) AS later_ns,
    count(*) AS calls
FROM per_call
WHERE n_iterations >= $first + 2
GROUP BY rank, layer, direction
HAVING lost > 0 OR bool_or(algorithm = 'several')
ORDER BY first_ns - later_ns DESC NULLS LAST, rank, layer, direction
