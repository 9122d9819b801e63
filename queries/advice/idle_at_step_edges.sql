-- title = "The device is idle at the start or end of the step"
-- doc = """Time from the start of a step until the device does anything, and from the last thing it does to the end of
-- the step. The bound is both."""
-- why = """Between the last kernel of a step and the first kernel of the next, the host loads data, logs, checks or
-- waits; the device could keep working if the next step were queued earlier."""
-- cost = "Host memory for prefetched batches; log output comes later."
-- unless = "The marked steps include more than the training loop (validation, checkpoints)."
-- needs = ["steps", "kernels"]
-- [fix]
-- pytorch = """DataLoader(num_workers=n, pin_memory=True, prefetch_factor=k, persistent_workers=True); no .item() or
-- logging at the end of each step; optimizer.zero_grad(set_to_none=True)"""
-- tensorflow = "dataset.prefetch(tf.data.AUTOTUNE), and prefetch_to_device; steps_per_execution=n"
-- jax = "prefetch with jax.device_put one batch ahead (flax.jax_utils.prefetch_to_device)"
-- mxnet = "gluon DataLoader(num_workers=n), mx.io.PrefetchingIter"
-- keras = "model.compile(..., steps_per_execution=n); dataset.prefetch"
-- any = "prepare the next batch while the device works; log every n steps"
-- [params]
-- edge_step_pct = { type = "DOUBLE", default = 5, doc = "found above this share of the step, in percent" }
WITH step AS (
    SELECT s.rank, s.step, s.start_ns, s.end_ns, c.n_steps, c.step_ns FROM step_times s JOIN scope c USING (rank)
    WHERE NOT s.is_warmup AND s.rank IN (SELECT rank FROM raw.kernels)
), edge AS (
    SELECT s.rank, s.step, any_value(s.n_steps) AS n_steps, any_value(s.step_ns) AS step_ns,
        coalesce(greatest(min(a.start_ns) - any_value(s.start_ns), 0), 0) AS before_ns,
        coalesce(greatest(any_value(s.end_ns) - max(a.end_ns), 0), 0) AS after_ns
    FROM step s JOIN activities a ON a.rank = s.rank AND a.kind IN ('kernel', 'copy') AND a.start_ns < s.end_ns
        AND a.end_ns > s.start_ns
    GROUP BY s.rank, s.step
)
SELECT rank, format('The device does nothing for {:.3f} ms at the start of a step and {:.3f} ms at its end.',
    sum(before_ns / n_steps) / 1e6,
        sum(after_ns / n_steps) / 1e6) AS problem,
    if(sum(before_ns) >= sum(after_ns), 'Most of it at the start', 'Most of it at the end') AS place,
    sum((before_ns + after_ns) / n_steps) AS saving_ns,
    'high that it is idle; what the host did meanwhile the report idle shows as far as it is recorded' AS confidence,
    list(format('step {}: {:.3f} ms at the start, {:.3f} ms at the end', step, before_ns / 1e6, after_ns / 1e6)
        ORDER BY before_ns + after_ns DESC, step)[:10] AS evidence
FROM edge
GROUP BY rank
HAVING 100.0 * sum((before_ns + after_ns) / n_steps) > $edge_step_pct * any_value(step_ns)
ORDER BY rank
