-- title = "The device is idle at the start or end of the step"
-- doc = """Idle time of the device inside steps in gaps that reach over the start or the end of one, while the host was
-- not loading data, allocating, communicating or waiting for the device (`between steps` in `report idle`). Only gaps
-- from one step to the next count: what was before the first and after the last of them is not recorded. The bound is
-- that time, averaged over the steps and the devices of a rank."""
-- why = """Between the last kernel of a step and the first kernel of the next, the host loads data, logs, checks or
-- waits; the device could keep working if the next step were queued earlier."""
-- cost = "Host memory for prefetched batches; log output comes later."
-- unless = "The marked steps include more than the training loop (validation, checkpoints)."
-- needs = ["steps", "several_steps", "kernels"]
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
    SELECT g.rank, coalesce(g.op_name, g.category) AS next, g.between_steps_ns AS idle_ns,
        c.n_steps * c.n_devices AS per, c.n_devices,
        -- Several devices may be idle at one edge.
        sum(idle_ns / c.n_devices) OVER (PARTITION BY g.rank, w.start_ns) AS edge_ns
    FROM idle_gaps g JOIN scope c ON c.rank = g.rank
    ASOF LEFT JOIN counted_windows w ON w.rank = g.rank AND g.until_ns >= w.start_ns
    WHERE g.between_steps_ns > 0 AND g.id IS NOT NULL AND g.from_ns > c.first_ns
), kinds AS (
    SELECT rank, next, count(*) / any_value(per) AS gaps, sum(idle_ns) / any_value(per) AS idle_ns,
        max(idle_ns) AS longest_ns, max(edge_ns) AS most_ns, sum(idle_ns / n_devices) AS all_ns
    FROM gap GROUP BY rank, next
)
SELECT k.rank, format('The device does nothing for {:.3f} ms where a step ends or begins, in gaps of up to {:.3f} ms.',
    sum(k.idle_ns) / 1e6, max(k.longest_ns) / 1e6) || if(any_value(p.has_workers),
        format(' The DataLoader works ahead already ({}).', any_value(p.loads)), '') AS problem,
    'Mostly before ' || arg_max(k.next, k.idle_ns) AS place, sum(k.idle_ns) AS saving_ns,
    -- Of two steps there is but one such gap.
    coalesce(one_event('gap', max(k.most_ns), sum(k.all_ns), nullif(any_value(c.n_steps), 2)),
        'high that it is idle; what the host did meanwhile is not recorded') AS confidence,
    list(format('before {}: {:.1f} gaps, {:.3f} ms', k.next, k.gaps, k.idle_ns / 1e6)
        ORDER BY k.idle_ns DESC, k.next)[:10] AS evidence
FROM kinds k JOIN scope c ON c.rank = k.rank LEFT JOIN processes p ON p.rank = k.rank
GROUP BY k.rank
HAVING 100.0 * sum(k.idle_ns) > $edge_step_pct * any_value(c.step_ns)
ORDER BY k.rank
