-- title = "The device is idle at the start or end of the step"
-- doc = """Idle time of the device inside steps in gaps that reach over the start or the end of one, while the host was
-- not loading data, allocating, communicating or waiting for the device (`between steps` in `report idle`). Only gaps
-- from one step to the next count: what was before the first and after the last of them is not recorded. What is
-- between iterations of an inference engine is in engine_gaps. The bound is that time, averaged over the steps and the
-- devices of a rank. Calls and operators that fill the 200 longest gaps are named."""
-- why = """Between the last kernel of a step and the first kernel of the next, the host loads data, logs, checks or
-- waits; the device could keep working if the next step were queued earlier."""
-- cost = "Host memory for prefetched batches; log output comes later."
-- unless = "The marked steps include more than the training loop (validation, checkpoints)."
-- needs = ["steps", "several_steps", "kernels", "steps_of_a_program"]
-- [fix]
-- engine = "vLLM --async-scheduling; SGLang without --disable-overlap-schedule"
-- pytorch = """if a DataLoader gives the batches: num_workers=n, pin_memory=True, prefetch_factor=k, with
-- persistent_workers=True if the gaps are where epochs begin; no .item() or logging at the end of each step;
-- optimizer.zero_grad(set_to_none=True)"""
-- tensorflow = "dataset.prefetch(tf.data.AUTOTUNE), and prefetch_to_device; steps_per_execution=n"
-- jax = "prefetch with jax.device_put one batch ahead (flax.jax_utils.prefetch_to_device)"
-- mxnet = "gluon DataLoader(num_workers=n), mx.io.PrefetchingIter"
-- keras = "model.compile(..., steps_per_execution=n); dataset.prefetch"
-- any = "prepare the next batch while the device works; log every n steps"
-- [params]
-- edge_step_pct = { type = "DOUBLE", default = 5, doc = "found above this share of the step, in percent" }
WITH gap AS (
    SELECT g.rank, g.id, g.from_ns, g.until_ns, coalesce(g.op_name, g.category) AS next, g.between_steps_ns AS idle_ns,
        c.n_steps * c.n_devices AS per, c.n_devices,
        -- Several devices may be idle at one edge.
        sum(g.between_steps_ns / c.n_devices) OVER (PARTITION BY g.rank, w.start_ns) AS edge_ns
    FROM idle_gaps g JOIN scope c ON c.rank = g.rank
    ASOF LEFT JOIN counted_windows w ON w.rank = g.rank AND g.until_ns >= w.start_ns
    WHERE g.between_steps_ns > 0 AND g.id IS NOT NULL AND g.from_ns > c.first_ns
), kinds AS (
    SELECT rank, next, count(*) / any_value(per) AS gaps, sum(idle_ns) / any_value(per) AS idle_ns,
        max(idle_ns) AS longest_ns, max(edge_ns) AS most_ns, sum(idle_ns / n_devices) AS all_ns
    FROM gap GROUP BY rank, next
), longest AS (
    -- Those that have no other cause, with the thread that launched what ended them.
    SELECT g.rank, g.id, g.from_ns, g.until_ns, a.pid, a.tid FROM gap g
    JOIN (SELECT id, launch_id FROM raw.kernels UNION ALL SELECT id, launch_id FROM raw.memcpys) w ON w.id = g.id
    JOIN raw.api_calls a ON a.id = w.launch_id
    WHERE g.idle_ns > 0.9 * (g.until_ns - g.from_ns)
    QUALIFY row_number() OVER (PARTITION BY g.rank ORDER BY g.idle_ns DESC, g.from_ns, g.id) <= 200
), done AS (
    SELECT rank, pid, tid, regexp_replace(name, '_v\d+$', '') AS name, start_ns, start_ns + dur_ns AS end_ns
    FROM (SELECT rank, pid, tid, name, start_ns, dur_ns FROM raw.ops WHERE depth = 0
        UNION ALL SELECT rank, pid, tid, name, start_ns, dur_ns FROM raw.api_calls
        UNION ALL SELECT rank, pid, tid, name, start_ns, dur_ns FROM raw.events
        WHERE category = 'osrt_api' OR starts_with(category, 'mpi_'))
    WHERE 10 * dur_ns > (SELECT min(until_ns - from_ns) FROM longest)
), met AS (
    SELECT l.rank, d.name, least(d.end_ns, l.until_ns) - greatest(d.start_ns, l.from_ns) AS dur_ns
    FROM longest l JOIN done d ON d.rank = l.rank AND d.pid IS NOT DISTINCT FROM l.pid
        AND d.tid IS NOT DISTINCT FROM l.tid AND d.start_ns < l.until_ns AND d.end_ns > l.from_ns
    -- A call within an operator is a part of it.
    QUALIFY coalesce(d.end_ns > max(d.end_ns) OVER (PARTITION BY l.id ORDER BY d.start_ns, d.end_ns DESC, d.name
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), true)
), meanwhile AS (
    SELECT rank, if(sum(dur_ns) > 0.5 * any_value(gap_ns), 'meanwhile the host is mostly in '
        || array_to_string(list(name ORDER BY dur_ns DESC, name)[:3], ', '),
        'no long call or operator that was recorded fills that time') AS told
    FROM (SELECT rank, sum(until_ns - from_ns) AS gap_ns FROM longest GROUP BY rank)
    LEFT JOIN (SELECT rank, name, sum(dur_ns) AS dur_ns FROM met GROUP BY rank, name) USING (rank)
    GROUP BY rank
)
SELECT k.rank, format('The device does nothing for {:.3f} ms where a step ends or begins, in gaps of up to {:.3f} ms.',
    sum(k.idle_ns) / 1e6, max(k.longest_ns) / 1e6) || if(any_value(p.has_workers),
        format(' The DataLoader works ahead already ({}).', any_value(p.loads)), '') AS problem,
    'Mostly before ' || arg_max(k.next, k.idle_ns) AS place, sum(k.idle_ns) AS saving_ns,
    -- Of two steps there is but one such gap.
    coalesce('low: ' || any_value(u.told) || ', which may be busy meanwhile',
        one_event('gap', max(k.most_ns), sum(k.all_ns), nullif(any_value(c.n_steps), 2)),
        concat_ws('; ', 'high that it is idle', any_value(m.told))) AS confidence,
    list(format('before {}: {:.1f} gaps, {:.3f} ms', k.next, k.gaps, k.idle_ns / 1e6)
        ORDER BY k.idle_ns DESC, k.next)[:10] AS evidence
FROM kinds k JOIN scope c ON c.rank = k.rank LEFT JOIN processes p ON p.rank = k.rank
LEFT JOIN meanwhile m ON m.rank = k.rank LEFT JOIN shared_gpus u ON u.rank = k.rank
GROUP BY k.rank
HAVING 100.0 * sum(k.idle_ns) > $edge_step_pct * any_value(c.step_ns)
ORDER BY k.rank
