-- title = "Compilation in a short run"
-- doc = """Calls that compile, link or load code for the device, and spans that compilers mark (torch.compile, XLA),
-- within the recorded steps. The bound is their time once per run, calls inside one another counted once; where kernels
-- are recorded only as far as no device of the rank works meanwhile. Warm-up steps count here, though other numbers
-- leave them out."""
-- why = """Code is compiled where it is first used; in a short run that time is part of what is measured, and where
-- shapes change it comes again."""
-- cost = "Nothing if it is only kept out of the measurement; a cache of compiled code needs disk space."
-- unless = "The run is long: then it pays for itself, and only the measurement should leave out the first steps."
-- per = "run"
-- same_time_as = "recompilations"
-- needs = ["steps", "host_calls"]
-- [fix]
-- pytorch = """measure after warm-up steps; torch.compile(dynamic=True) or padding where shapes change; keep
-- TORCHINDUCTOR_CACHE_DIR and TORCHINDUCTOR_FX_GRAPH_CACHE=1 between runs; CUDA_MODULE_LOADING=EAGER"""
-- pytorch_cpu = """measure after warm-up steps; torch.compile(dynamic=True) or padding where shapes change; keep
-- TORCHINDUCTOR_CACHE_DIR and TORCHINDUCTOR_FX_GRAPH_CACHE=1 between runs"""
-- tensorflow = "measure after warm-up steps; tf.function(reduce_retracing=True) or an input_signature"
-- jax = "measure after the first call of each shape; jax.config.update('jax_compilation_cache_dir', DIR)"
-- mxnet = "measure after warm-up batches; hybridize(static_alloc=True, static_shape=True)"
-- any = "measure after warm-up steps; keep the cache of compiled code between runs"
-- [params]
-- compile_run_pct = { type = "DOUBLE", default = 2, doc = "found above this share of the recording, in percent" }
WITH own AS (
    SELECT *, greatest(start_ns, coalesce(max(end_ns) OVER (PARTITION BY rank ORDER BY start_ns, end_ns DESC, id
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), start_ns)) AS from_ns,
        coalesce(end_ns <= max(end_ns) OVER (PARTITION BY rank, pid, tid ORDER BY start_ns, end_ns DESC, id
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), false) AS is_part
    FROM compilations WHERE step IS NOT NULL
), during AS (
    -- Busy time between two moments is the difference of what lies before them.
    SELECT o.rank, o.end_ns - o.from_ns - if(o.rank IN (SELECT rank FROM raw.kernels),
        coalesce(z.before_ns + least(o.end_ns, z.end_ns) - z.from_ns, 0)
        - coalesce(a.before_ns + least(o.from_ns, a.end_ns) - a.from_ns, 0), 0) AS lost_ns
    FROM (FROM own WHERE end_ns > from_ns) o
    ASOF LEFT JOIN stretches a ON a.rank = o.rank AND o.from_ns >= a.from_ns
    ASOF LEFT JOIN stretches z ON z.rank = o.rank AND o.end_ns >= z.from_ns
), lost AS (
    SELECT rank, sum(lost_ns) AS lost_ns FROM during GROUP BY rank
), kinds AS (
    SELECT rank, name, count(*) AS calls, sum(greatest(end_ns - from_ns, 0)) AS own_ns FROM own
    -- Calls inside others of their thread are parts of them, and no more calls.
    WHERE NOT is_part AND end_ns > start_ns GROUP BY rank, name
)
SELECT k.rank,
    if(sum(k.calls) = 1, '1 call compiles or loads', sum(k.calls) || ' calls compile or load')
        || format(' code within the recorded steps, for {:.3f} ms in all{}.', sum(k.own_ns) / 1e6,
        if(any_value(l.lost_ns) < sum(k.own_ns), format('; the device does nothing for {:.3f} ms of that time',
            any_value(l.lost_ns) / 1e6), '')) AS problem,
    'The longest is ' || arg_max(k.name, k.own_ns) AS place, any_value(l.lost_ns) AS saving_ns,
    'high for what the names say; ' || if(k.rank IN (SELECT rank FROM raw.kernels),
        'time in which a device works is left out', 'other threads may have worked meanwhile') AS confidence,
    list(format('{}: {} calls, {:.3f} ms', k.name, k.calls, k.own_ns / 1e6) ORDER BY k.own_ns DESC, k.name) AS evidence
FROM kinds k JOIN lost l ON l.rank = k.rank JOIN recordings r ON r.rank = k.rank
GROUP BY k.rank
HAVING 100.0 * any_value(l.lost_ns) > $compile_run_pct * any_value(r.run_ns)
ORDER BY k.rank
