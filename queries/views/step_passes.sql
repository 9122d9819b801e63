-- doc = """Forward and backward passes of a step that counts whose gradients one update adds up: gradient accumulation,
-- micro-batches of a pipeline. Backward passes that `traceview collect` marked are such where they divide the calls of
-- every convolution and fully connected layer, which those of several losses or models do not; else a step has one."""
-- materialize = true
-- [columns]
-- passes = "passes of most steps; no row without marks"
-- samples = """samples of most of these steps, over all of their passes, by the rows of layers that take the noted
-- batch in one of them; NULL where the step has one pass, or no layer does"""
WITH backward AS (
    SELECT rank, step, count(*) AS n FROM raw.ranges WHERE kind = 'phase' AND name = 'backward'
        AND (rank, step) IN (SELECT (rank, step) FROM step_times WHERE NOT is_warmup)
    GROUP BY rank, step
), forward AS (
    SELECT rank, step, filter_shape AS layer, input_shape[1] AS n_rows FROM conv_calls WHERE direction = 'fprop'
    UNION ALL
    SELECT rank, step, [k, n], m FROM matmul_shapes WHERE NOT coalesce(is_backward, false) AND batch = 1
), called AS (
    SELECT rank, step, count(*) AS n, if(bool_or(n_rows = batch), sum(n_rows), NULL) AS n_rows
    FROM forward LEFT JOIN processes USING (rank) GROUP BY rank, step, layer
), divided AS (
    SELECT b.rank, b.step, if(bool_and(c.n % b.n = 0), b.n, 1) AS passes,
        CAST(mode(c.n_rows * b.n // c.n ORDER BY c.n_rows * b.n // c.n) AS BIGINT) AS samples
    FROM backward b LEFT JOIN called c USING (rank, step) GROUP BY b.rank, b.step, b.n
)
SELECT passes, if(passes > 1, mode(samples ORDER BY samples), NULL) AS samples FROM divided
WHERE passes = (SELECT mode(passes ORDER BY passes) FROM divided) GROUP BY passes
