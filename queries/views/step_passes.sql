-- doc = """Forward and backward passes of a step that counts whose gradients one update adds up: gradient accumulation,
-- micro-batches of a pipeline. Backward passes that `traceview collect` marked are such where they divide the calls of
-- every convolution and fully connected layer, which those of several losses or models do not; else a step has one."""
-- materialize = true
-- [columns]
-- passes = "passes of most steps; no row without marks"
WITH backward AS (
    SELECT rank, step, count(*) AS n FROM raw.ranges WHERE kind = 'phase' AND name = 'backward'
        AND (rank, step) IN (SELECT (rank, step) FROM step_times WHERE NOT is_warmup)
    GROUP BY rank, step
), called AS (
    SELECT rank, step, count(*) AS n FROM conv_calls WHERE direction = 'fprop'
    GROUP BY rank, step, filter_shape
    UNION ALL
    SELECT rank, step, count(*) FROM matmul_shapes WHERE NOT coalesce(is_backward, false) AND batch = 1
    GROUP BY rank, step, k, n
), divided AS (
    SELECT b.rank, b.step, if(bool_and(c.n % b.n = 0), b.n, 1) AS passes
    FROM backward b LEFT JOIN called c USING (rank, step) GROUP BY b.rank, b.step, b.n
)
SELECT mode(passes ORDER BY passes) AS passes FROM divided HAVING count(*) > 0
