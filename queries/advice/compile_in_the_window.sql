-- title = "Compilation in a short run"
-- doc = """Calls that compile, link or load code for the device, and spans that compilers mark (torch.compile, XLA),
-- within the recorded steps. The bound is their time, those inside one another counted once, spread over all recorded
-- steps, also those that other numbers leave out as warm-up."""
-- why = """Code is compiled where it is first used; in a short run that time is part of what is measured, and where
-- shapes change it comes again."""
-- cost = "Nothing if it is only kept out of the measurement; a cache of compiled code needs disk space."
-- unless = "The run is long: then it pays for itself, and only the measurement should leave out the first steps."
-- needs = ["steps", "host_calls"]
-- [fix]
-- pytorch = """measure after warm-up steps; torch.compile(dynamic=True) or padding where shapes change; keep
-- TORCHINDUCTOR_CACHE_DIR and TORCHINDUCTOR_FX_GRAPH_CACHE=1 between runs; CUDA_MODULE_LOADING=EAGER"""
-- tensorflow = "measure after warm-up steps; tf.function(reduce_retracing=True) or an input_signature"
-- jax = "measure after the first call of each shape; jax.config.update('jax_compilation_cache_dir', DIR)"
-- mxnet = "measure after warm-up batches; hybridize(static_alloc=True, static_shape=True)"
-- any = "measure after warm-up steps; keep the cache of compiled code between runs"
-- [params]
-- compile_step_pct = { type = "DOUBLE", default = 2, doc = "found above this share of the step, in percent" }
WITH recorded AS (
    SELECT rank, greatest(n_steps + n_warmup, 1) AS per, step_ns FROM scope WHERE has_steps
), own AS (
    SELECT *, greatest(start_ns, coalesce(max(end_ns) OVER (PARTITION BY rank ORDER BY start_ns, end_ns DESC, id
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), start_ns)) AS from_ns
    FROM compilations WHERE step IS NOT NULL
), kinds AS (
    SELECT o.rank, o.name, count(*) AS calls, sum(greatest(o.end_ns - o.from_ns, 0) / r.per) AS own_ns,
        any_value(r.step_ns) AS step_ns,
        any_value(r.per) AS per
    FROM own o JOIN recorded r USING (rank) GROUP BY o.rank, o.name
)
SELECT rank,
    format('{} calls compile or load code within the recorded steps, for {:.3f} ms in all, {:.3f} ms for each of {}.',
    sum(calls),
        sum(own_ns) * any_value(per) / 1e6, sum(own_ns) / 1e6, any_value(per))
        AS problem,
    'The longest is ' || arg_max(name, own_ns) AS place, sum(own_ns) AS saving_ns,
    'high for what the names say; the device may have worked meanwhile' AS confidence,
    list(format('{}: {} calls, {:.3f} ms per step', name, calls, own_ns / 1e6) ORDER BY own_ns DESC, name) AS evidence
FROM kinds
GROUP BY rank
HAVING 100.0 * sum(own_ns) > $compile_step_pct * any_value(step_ns)
ORDER BY rank
