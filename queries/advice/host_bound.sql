-- title = "The device waits for the host to launch"
-- doc = """Idle time of the device inside steps because its next work had not been launched yet, while the host was not
-- loading data, allocating, communicating or waiting for the device (`launch` in `report idle`). The length of gaps and
-- kernels does not matter. The bound is that time, averaged over the devices of a rank."""
-- why = """The host cannot launch as fast as the device works: Python, the framework and the driver take longer for an
-- operator than its kernels do. Fewer launches, launches prepared once, or more work in each let the device run on."""
-- cost = "Compile time and memory for graphs; shapes and addresses must not change in a captured graph."
-- unless = "The step is only traced slowly: profilers make launches dearer, so check the step time without one."
-- needs = ["launches"]
-- removes = "host_time"
-- [fix]
-- pytorch = """torch.compile(model, mode='reduce-overhead') or torch.cuda.graphs; optimizer with fused=True or
-- foreach=True; larger batches; no Python loop over small operators"""
-- tensorflow = "tf.function(jit_compile=True), steps_per_execution, larger batches"
-- jax = "lax.scan over steps, jax.jit around the whole step where it is not yet; larger batches"
-- mxnet = "net.hybridize(static_alloc=True, static_shape=True); larger batches"
-- keras = "model.compile(..., jit_compile=True, steps_per_execution=n); larger batches"
-- any = "fuse small operators, capture the step in a graph, raise the batch size"
-- [params]
-- host_step_pct = { type = "DOUBLE", default = 5, doc = "found above this share of the step, in percent" }
-- host_start_ms = { type = "DOUBLE", default = 10, doc = """without a second step: a gap as long is the start of
-- something, as where a library is loaded, and no launch is as slow, in milliseconds""" }
WITH operators AS (
    SELECT t.rank, coalesce(t.op_name, '(no operator)') AS operator, sum(t.n_gaps) / any_value(a.per) AS gaps,
        sum(t.idle_ns) / any_value(a.per * c.n_devices) AS wait_ns, max(t.longest_ns) AS longest_ns
    FROM idle_totals t JOIN account a ON a.rank = t.rank AND a.device = t.device JOIN scope c ON c.rank = t.rank
    WHERE t.cause = 'launch' GROUP BY t.rank, operator
), gap AS (
    SELECT r.rank, max(r.saved_ns) AS most_ns, count(*) FILTER (r.is_long) AS n_long,
        sum(r.saved_ns) FILTER (r.is_long) AS long_ns
    FROM (SELECT r.*, saved_ns * greatest(c.n_devices, 1) >= 1e6 * $host_start_ms AS is_long
        FROM removable r JOIN scope c USING (rank) WHERE cost = 'launches') r GROUP BY r.rank
), launched AS (
    SELECT rank, sum(n / per) AS kernels, sum(alone_ns) / sum(n) AS mean_ns
    FROM totals WHERE is_counted AND kind = 'kernel' AND n > 0 GROUP BY rank
), lost AS (
    SELECT q.rank, CAST(sum(q.n) AS BIGINT) AS n, any_value(h.kernels) AS n_kernels
    FROM quality q JOIN recorded h USING (rank)
    WHERE q.kind = 'launches whose kernel is not in the recording' GROUP BY q.rank
)
SELECT o.rank,
    format('The device is idle for {:.3f} ms because the host has not launched yet what comes next, in {:.1f} gaps; '
        || '{:.1f} kernels of {:.3f} ms on average.', sum(o.wait_ns) / 1e6, sum(o.gaps), any_value(l.kernels),
        any_value(l.mean_ns) / 1e6) AS problem,
    'Mostly before ' || nullif(arg_max(o.operator, o.wait_ns), '(no operator)') AS place,
    sum(o.wait_ns) AS saving_ns,
    coalesce('low: ' || any_value(u.told) || ', which may be busy meanwhile',
        one_event('gap', any_value(g.most_ns * greatest(c.n_steps, 1) * c.n_devices),
        sum(o.wait_ns * greatest(c.n_steps, 1) * c.n_devices), any_value(c.n_steps)), CASE
        WHEN any_value(q.n) > 0.01 * any_value(q.n_kernels)
        THEN format('low: {} launched kernels are not in the recording, and may have run meanwhile', any_value(q.n))
        WHEN any_value(c.n_steps) < 2 AND any_value(g.long_ns) > 0.5 * sum(o.wait_ns)
        THEN format('low: {} gaps longer than {} ms are most of it, as where libraries are loaded and models '
            || 'built; without a second step nothing tells what comes again',
            any_value(g.n_long), CAST($host_start_ms AS BIGINT))
        ELSE 'high that the device waits; profiling itself makes launches slower' END) AS confidence,
    list(format('before {}: {:.1f} gaps, {:.3f} ms, the longest {:.3f} ms', o.operator, o.gaps, o.wait_ns / 1e6,
        o.longest_ns / 1e6) ORDER BY o.wait_ns DESC, o.operator) FILTER (o.gaps > 0)[:20] AS evidence
FROM operators o JOIN scope c ON c.rank = o.rank LEFT JOIN launched l ON l.rank = o.rank
LEFT JOIN gap g ON g.rank = o.rank LEFT JOIN lost q ON q.rank = o.rank
LEFT JOIN shared_gpus u ON u.rank = o.rank
GROUP BY o.rank
HAVING 100.0 * sum(o.wait_ns) > $host_step_pct * any_value(c.step_ns)
ORDER BY o.rank
