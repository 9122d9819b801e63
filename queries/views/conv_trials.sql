-- doc = """Kernels of convolutions with the iteration they ran in, and the last iteration in which their name occurs: a
-- name that is gone after the first ones lost a search. An iteration is a step (0 is before the first), or without
-- steps the nth call of a layer and direction; where no layer and no shape is known, nothing tells how often a layer
-- was called."""
-- materialize = true
-- [columns]
-- id = "the kernel"
-- rank = "process of the job"
-- name = "its name"
-- algorithm = "as in kernels"
-- direction = "as in kernels"
-- role = "as in kernels"
-- dur_ns = "its duration"
-- call_id = "the convolution call it is part of, where one is known"
-- iteration = "step from 1 on (0: before the first), or the nth call of its layer"
-- last_iteration = "the last one in which its name occurs"
-- n_iterations = "the last one of the rank, or the calls of its layer"
WITH step AS (
    SELECT rank, step, row_number() OVER (PARTITION BY rank ORDER BY start_ns) AS number FROM step_times
), first AS (
    SELECT rank, min(start_ns) AS start_ns FROM step_times GROUP BY rank
), call AS (
    SELECT o.id AS op_id, row_number() OVER (layer ORDER BY o.start_ns, o.id) AS number, count(*) OVER layer AS n_calls
    FROM attributed.conv_op o LEFT JOIN conv_shapes s ON s.op_id = o.id
    WHERE o.layer IS NOT NULL OR s.filter_shape IS NOT NULL
    WINDOW layer AS (PARTITION BY o.rank, o.layer, o.name, s.filter_shape, s.input_shape)
), launched AS (
    SELECT k.id, k.rank, k.name, k.algorithm, k.direction, k.role, k.dur_ns, k.call_id,
        CASE WHEN first.rank IS NULL THEN call.number WHEN step.number IS NOT NULL THEN step.number
            WHEN k.start_ns < first.start_ns THEN 0 END AS iteration,
        if(first.rank IS NULL, call.n_calls, NULL) AS n_calls
    FROM kernels k
    LEFT JOIN first ON first.rank = k.rank
    LEFT JOIN step ON step.rank = k.rank AND step.step = k.step
    LEFT JOIN call ON call.op_id = k.call_id
    -- The check of a trial's output belongs to the search that ran it.
    WHERE k.category = 'conv' OR k.call_id IS NOT NULL
        OR k.name IN (SELECT name FROM names.kernel WHERE name ILIKE '%redzone_checker%')
)
SELECT * EXCLUDE (n_calls), max(iteration) OVER (PARTITION BY rank, name) AS last_iteration,
    -- A kernel of a layer that was called once is not gone.
    coalesce(n_calls, max(iteration) OVER (PARTITION BY rank)) AS n_iterations
FROM launched
