-- title = "The host waits for the device"
-- doc = """Idle time of the device because the host was waiting for it (in a synchronisation or a blocking copy) and so
-- had queued nothing more (`synchronisation` in `report idle`). The bound is the idle gaps that begin while the host
-- waits, and what it waits in others, without loading data and allocating in them, averaged over the devices of a
-- rank; of a gap most of which came after the launch of what ended it, only what is waited until then."""
-- why = """The host queues work ahead of the device. Reading a value (.item(), float(loss), printing) or a blocking
-- copy makes the host wait until the queue is empty, and the device then waits for the host to fill it again."""
-- cost = "Values are available later or less often."
-- unless = "The program needs the value in every step to decide what to do."
-- needs = ["runtime_calls"]
-- removes = "host_waits"
-- [fix]
-- pytorch = """no .item(), .cpu(), .numpy(), print(tensor), tensor == value in if, nonzero() or boolean indexing inside
-- the step; .to(device, non_blocking=True) from pinned memory; torch.cuda.set_sync_debug_mode('warn') shows each
-- place"""
-- tensorflow = "no .numpy() or float() of results inside the loop; steps_per_execution=n"
-- jax = "no float(x), np.asarray(x) or block_until_ready inside the loop"
-- mxnet = "no asnumpy(), asscalar() or wait_to_read() inside the loop"
-- keras = "model.compile(..., steps_per_execution=n); callbacks per epoch, not per batch"
-- any = "read results every n steps"
-- [params]
-- wait_step_pct = { type = "DOUBLE", default = 5, doc = "found above this share of the step, in percent" }
-- wait_start_ms = { type = "DOUBLE", default = 10, doc = """without a second step: in a wait as long the host does
-- something else than go on, in milliseconds""" }
WITH thread AS (
    -- As in host_states: a thread waits for the devices that it launches for.
    SELECT DISTINCT a.rank, k.kind || ' ' || coalesce(CAST(w.device AS VARCHAR), '?') AS device, a.pid, a.tid
    FROM (SELECT launch_id, device FROM raw.kernels UNION ALL SELECT launch_id, device FROM raw.memcpys) w
    JOIN raw.api_calls a ON a.id = w.launch_id CROSS JOIN accelerator k
), call AS (
    SELECT a.rank, t.device, a.start_ns, regexp_replace(a.name, '_v\d+$', '') AS name,
        coalesce(o.name, '(no operator)') AS operator,
        CASE WHEN regexp_matches(o.name, '::(_local_scalar_dense|item)$')
                THEN ' (.item(), float(), bool() or an if on a tensor)'
            WHEN regexp_matches(o.name, '::(nonzero|index|masked_select)$') THEN ' (nonzero() or a boolean index)'
            WHEN regexp_matches(o.name, '::(copy_|_to_copy)$') AND contains(a.name, 'Synchronize')
                THEN ' (a copy without non_blocking=True)'
            ELSE '' END || coalesce(format(' at {}:{}', l.file, l.line), '') AS place
    FROM blocking_calls a JOIN thread t ON t.rank = a.rank AND t.pid IS NOT DISTINCT FROM a.pid
        AND t.tid IS NOT DISTINCT FROM a.tid
    LEFT JOIN raw.ops o ON o.id = a.op_id
    LEFT JOIN source_lines l ON l.op_id = a.op_id
    WHERE a.cause = 'synchronisation'
), drained AS (
    -- Of several calls in one idle gap the last one lets the host go on.
    SELECT g.rank, coalesce(c.name, '(not known)') AS name, coalesce(c.operator, '(no operator)') AS operator,
        coalesce(c.place, '') AS place, g.synchronisation_ns, s.per, s.step_ns, s.n_steps,
        coalesce(c.start_ns, g.until_ns) AS waited_at_ns,
        sum(g.synchronisation_ns / s.n_devices) OVER (PARTITION BY g.rank, waited_at_ns) AS event_ns, s.n_devices
    FROM (FROM idle_gaps WHERE synchronisation_ns > 0) g
    JOIN (SELECT rank, greatest(n_devices, 1) AS n_devices, greatest(n_steps, 1) * greatest(n_devices, 1) AS per,
        step_ns, n_steps FROM scope) s ON s.rank = g.rank
    ASOF LEFT JOIN call c ON c.rank = g.rank AND c.device = g.device AND g.until_ns > c.start_ns
), kinds AS (
    -- One call may let several devices run dry.
    SELECT rank, name, operator, place, count(DISTINCT waited_at_ns) / greatest(any_value(n_steps), 1) AS calls,
        sum(synchronisation_ns / per) AS wait_ns, any_value(step_ns) AS step_ns,
        max(event_ns) AS most_ns, sum(synchronisation_ns / n_devices) AS all_ns, any_value(n_steps) AS n_steps,
        count(*) FILTER (synchronisation_ns >= 1e6 * $wait_start_ms) AS n_long,
        sum(synchronisation_ns / per) FILTER (synchronisation_ns >= 1e6 * $wait_start_ms) AS long_ns
    FROM drained GROUP BY rank, name, operator, place
), lost AS (
    SELECT q.rank, CAST(sum(q.n) AS BIGINT) AS n, any_value(h.kernels) AS n_kernels
    FROM quality q JOIN recorded h USING (rank)
    WHERE q.kind = 'launches whose kernel is not in the recording' GROUP BY q.rank
)
SELECT rank,
    format('{:.1f} times the host waits until the device has nothing left to do, and the device then waits {:.3f} ms.',
        sum(calls), sum(wait_ns) / 1e6) AS problem,
    'Mostly after ' || arg_max(coalesce(nullif(operator, '(no operator)'), name) || place, wait_ns) AS place,
    sum(wait_ns) AS saving_ns,
    coalesce('low: ' || any_value(u.told) || ', which may be busy meanwhile',
        one_event('wait', max(most_ns), sum(all_ns), any_value(n_steps)), CASE
        WHEN any_value(n_steps) < 2 AND sum(long_ns) > 0.5 * sum(wait_ns)
        THEN format('low: {} waits longer than {} ms are most of it, as where code is compiled or files are read; '
            || 'without a second step nothing tells what comes again', sum(n_long), CAST($wait_start_ms AS BIGINT))
        WHEN any_value(l.n) > 0.01 * any_value(l.n_kernels)
        THEN format('low: {} launched kernels are not in the recording, and may have run meanwhile', any_value(l.n))
        ELSE 'medium: the device is idle after the call; work of the host may have kept it waiting anyway' END)
        AS confidence,
    list(format('{} under {}{}: {:.1f} times, {:.3f} ms', name, operator, place, calls, wait_ns / 1e6)
        ORDER BY wait_ns DESC, name, operator, place) AS evidence
FROM kinds LEFT JOIN lost l USING (rank) LEFT JOIN shared_gpus u USING (rank)
GROUP BY rank
HAVING 100.0 * sum(wait_ns) > $wait_step_pct * any_value(step_ns)
ORDER BY rank
