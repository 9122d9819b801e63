-- title = "The device waits for launches"
-- doc = """Idle stretches of the device before kernels whose launching call ended after everything before had ended,
-- where most kernels are short. The bound is those stretches; longer ones than a launch explains (loading,
-- synchronisation) are not counted."""
-- why = """The kernels are so short that the host cannot launch them as fast as the device runs them; fewer
-- launches, or launches recorded once in a graph, keep the device busy."""
-- cost = "Compile time and memory for graphs; shapes and addresses must not change in a captured graph."
-- unless = "Only profiling is slow: profilers add time to each launch, so check the step time without one."
-- needs = ["launches", "steps"]
-- [fix]
-- pytorch = """torch.compile(model, mode='reduce-overhead') or torch.cuda.graphs; optimizer with fused=True or
-- foreach=True; larger batches"""
-- tensorflow = "tf.function(jit_compile=True), steps_per_execution, larger batches"
-- jax = "jax.jit around the whole step, lax.scan over steps; larger batches"
-- mxnet = "net.hybridize(static_alloc=True, static_shape=True)"
-- keras = "model.compile(..., jit_compile=True, steps_per_execution=n)"
-- any = "fuse small operators, capture the step in a graph, raise the batch size"
-- [params]
-- launch_step_pct = { type = "DOUBLE", default = 10, doc = "found above this share of the step, in percent" }
-- launch_short_ns = { type = "BIGINT", default = 10000, doc = "a kernel is short below this duration" }
-- launch_short_pct = { type = "DOUBLE", default = 50, doc = """and where more than this share of the kernels is short,
-- in percent""" }
WITH kernel AS (
    SELECT c.rank, coalesce(c.op_name, '(no operator)') AS operator, c.dur_ns, c.per, c.step_ns, l.saved_ns AS wait_ns
    FROM counted c LEFT JOIN late_launches l ON l.id = c.id WHERE c.kind = 'kernel'
), operators AS (
    SELECT rank, operator, count(*) AS kernels, count(*) FILTER (dur_ns < $launch_short_ns) AS short,
        any_value(per) AS per,
        coalesce(sum(wait_ns), 0) AS wait_ns, any_value(step_ns) AS step_ns
    FROM kernel GROUP BY rank, operator
)
SELECT rank,
    format('{:.0f} % of {:.1f} kernels are short, and the device waits {:.3f} ms for launches.',
        100.0 * sum(short) / sum(kernels), sum(kernels / per), sum(wait_ns) / 1e6) AS problem,
    'Above all before ' || nullif(arg_max(operator, wait_ns), '(no operator)') AS place,
    sum(wait_ns) AS saving_ns,
    'high that the device waits; profiling itself makes launches slower' AS confidence,
    list(format('{}: {:.1f} kernels, waits {:.3f} ms', operator, kernels / per, wait_ns / 1e6)
        ORDER BY wait_ns DESC, operator)[:20] AS evidence
FROM operators
GROUP BY rank
HAVING 100.0 * sum(wait_ns) > $launch_step_pct * any_value(step_ns)
    AND 100.0 * sum(short) > $launch_short_pct * sum(kernels)
ORDER BY rank
