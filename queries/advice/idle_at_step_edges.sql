-- title = "The device is idle at the start or end of the step"
-- doc = """Idle time of the device inside steps in gaps that reach over the start or the end of one, while the host was
-- not loading data, allocating, communicating or waiting for the device (`between steps` in `report idle`). The bound
-- is that time, averaged over the devices of a rank."""
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
WITH gap AS (
    SELECT t.rank, coalesce(t.op_name, t.before, '(the end of the recording)') AS next, t.n_gaps / a.per AS gaps,
        t.idle_ns / (a.per * c.n_devices) AS idle_ns, t.longest_ns
    FROM idle_totals t JOIN account a ON a.rank = t.rank AND a.device = t.device JOIN scope c ON c.rank = t.rank
    WHERE t.cause = 'between steps'
), kinds AS (
    SELECT rank, next, sum(gaps) AS gaps, sum(idle_ns) AS idle_ns, max(longest_ns) AS longest_ns FROM gap
    GROUP BY rank, next
)
SELECT k.rank, format('The device does nothing for {:.3f} ms where a step ends or begins, in gaps of up to {:.3f} ms.',
    sum(k.idle_ns) / 1e6, max(k.longest_ns) / 1e6) AS problem,
    'Mostly before ' || arg_max(k.next, k.idle_ns) AS place, sum(k.idle_ns) AS saving_ns,
    'high that it is idle; what the host did meanwhile is not recorded' AS confidence,
    list(format('before {}: {:.1f} gaps, {:.3f} ms', k.next, k.gaps, k.idle_ns / 1e6)
        ORDER BY k.idle_ns DESC, k.next)[:10] AS evidence
FROM kinds k JOIN scope c ON c.rank = k.rank
GROUP BY k.rank
HAVING 100.0 * sum(k.idle_ns) > $edge_step_pct * any_value(c.step_ns)
ORDER BY k.rank
