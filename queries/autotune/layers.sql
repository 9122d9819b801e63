-- title = "Winners and losers by layer"
-- doc = """Layers and directions whose first calls ran kernels that later calls did not, or tried several algorithms in
-- one call. The winner is what later calls run or, if none was recorded, the fastest trial. What the search cost a
-- layer is not known where calls name no layer, or where it ran before the first step."""
-- cannot = """No convolution tried several algorithms in one call, and no convolution kernel runs only at the start (or
-- there are fewer than three iterations, or no convolutions)."""
-- leave_out = ["calls", "tried", "lost", "won_by", "first_ns"]
-- [params]
-- first = { type = "BIGINT", default = 1, doc = "iterations in which a search may run" }
-- [columns]
-- rank = "process of the job"
-- layer = "layer, or filter and its shape"
-- direction = "fprop, dgrad or wgrad"
-- winner = "the algorithm that won"
-- won_by = "later calls run it, or it was the fastest trial if no later call was recorded"
-- winner_ns = """median time of the later calls, else of the fastest trial with its transforms and helpers; empty where
-- nothing tells which layers the calls are of"""
-- search_ns = "time of the first call beyond that"
-- tried = "algorithms in the first iterations"
-- lost = "kernels that only the first iterations ran"
-- first_ns = "time of the first call"
-- later_ns = "median time of the later calls"
-- calls = "calls in the recording"
WITH trial AS (
    SELECT call_id, direction, min(iteration) AS iteration, any_value(n_iterations) AS n_iterations
    FROM conv_trials WHERE call_id IS NOT NULL GROUP BY call_id, direction
), loser AS (
    SELECT call_id, direction, list(DISTINCT name) AS lost, min(iteration) AS iteration
    FROM conv_trials WHERE call_id IS NOT NULL AND last_iteration <= $first GROUP BY call_id, direction
), candidate AS (
    -- A search may run an algorithm more than once: the time of one trial.
    SELECT call_id, direction, algorithm, sum(dur_ns) / count(*) FILTER (role = 'main') AS trial_ns
    FROM conv_trials WHERE call_id IS NOT NULL AND algorithm IS NOT NULL
    GROUP BY ALL HAVING count(*) FILTER (role = 'main') > 0
), fastest AS (
    SELECT call_id, direction, arg_min(algorithm, (trial_ns, algorithm)) AS algorithm, min(trial_ns) AS trial_ns
    FROM candidate GROUP BY call_id, direction
), per_call AS (
    SELECT c.rank, coalesce(c.layer, 'filter ' || array_to_string(c.filter_shape, 'x'), '(no layer)') AS layer,
        c.direction,
        c.algorithm, c.algorithms, c.total_ns, t.iteration, t.n_iterations, l.lost, l.iteration = 0 AS is_before,
        c.layer IS NULL AND c.filter_shape IS NULL AS is_of_any,
        f.algorithm AS fastest, f.trial_ns,
        coalesce(t.iteration, 1) <= $first OR c.algorithm = 'several' AS is_searching
    FROM conv_calls c
    LEFT JOIN trial t ON t.call_id = c.op_id AND t.direction IS NOT DISTINCT FROM c.direction
    LEFT JOIN loser l ON l.call_id = c.op_id AND l.direction IS NOT DISTINCT FROM c.direction
    LEFT JOIN fastest f ON f.call_id = c.op_id AND f.direction IS NOT DISTINCT FROM c.direction
    WHERE t.n_iterations >= $first + 2 OR c.algorithm = 'several'
), per_layer AS (
    SELECT rank, layer, direction,
        mode(algorithm) FILTER (iteration > $first AND algorithm <> 'several') AS later,
        arg_min(fastest, (trial_ns, fastest)) FILTER (is_searching AND NOT is_of_any) AS fastest,
        min(trial_ns) FILTER (is_searching AND NOT is_of_any) AS trial_ns,
        array_to_string(list_sort(list_distinct(flatten(list(algorithms) FILTER (is_searching)))), ', ') AS tried,
        coalesce(len(list_distinct(flatten(list(lost) FILTER (lost IS NOT NULL)))), 0) AS lost,
        if(coalesce(bool_or(is_before), false), NULL,
            coalesce(min(total_ns) FILTER (iteration = 1), max(total_ns) FILTER (algorithm = 'several')))
            AS first_ns,
        median(total_ns) FILTER (iteration > $first AND algorithm <> 'several' AND NOT is_of_any) AS later_ns,
        count(*) AS calls
    FROM per_call
    GROUP BY rank, layer, direction
    HAVING lost > 0 AND max(n_iterations) >= $first + 2 OR bool_or(algorithm = 'several')
)
SELECT rank, layer, direction, coalesce(later, fastest) AS winner,
    CASE WHEN later IS NOT NULL THEN 'later calls' WHEN fastest IS NOT NULL THEN 'fastest trial' END AS won_by,
    if(later IS NOT NULL, later_ns, trial_ns) AS winner_ns,
    first_ns - if(later IS NOT NULL, later_ns, trial_ns) AS search_ns, tried, lost, first_ns, later_ns, calls
FROM per_layer
ORDER BY search_ns DESC NULLS LAST, rank, layer, direction
