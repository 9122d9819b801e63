-- title = "Device memory allocated where no step counts"
-- doc = """Calls that allocate or free device memory outside the steps that count: at the start, in warm-up, between
-- steps; without steps in the whole recording. The bound is the time in which they run while all devices of the rank
-- are idle, from the first to the last work on a device, once per run."""
-- why = """The first allocations wait for the start of the device's context, for code that is loaded, and for all
-- queued work when memory is freed again. A caching allocator asks once, and later steps do not pay for it: it belongs
-- to the start of a run and not into a measurement of its steps."""
-- cost = """None if only the measurement leaves it out; memory allocated at the start is not available to other
-- processes."""
-- unless = "The run is long: then the start does not count."
-- per = "run"
-- needs = ["runtime_calls", "activities"]
-- [fix]
-- pytorch = """measure after a few warm-up steps; in a server one pass before the first request;
-- CUDA_MODULE_LOADING=LAZY (the default since CUDA 12.2); torch.backends.cudnn.benchmark = False where shapes change,
-- so that workspaces are asked for once"""
-- tensorflow = "measure after a few warm-up steps; TF_GPU_ALLOCATOR and memory growth at their defaults"
-- jax = "measure after the first steps; XLA_PYTHON_CLIENT_PREALLOCATE left at its default"
-- mxnet = "measure after a few warm-up batches"
-- any = "leave the first steps out of the measurement; allocate once and keep the memory"
-- [params]
-- start_run_pct = { type = "DOUBLE", default = 5, doc = "found above this share of the recording, in percent" }
WITH span AS (
    SELECT rank, min(first_ns) AS first_ns, max(last_ns) AS last_ns FROM totals GROUP BY rank
), state AS (
    SELECT *, lead(at_ns) OVER (PARTITION BY rank, device ORDER BY at_ns) AS end_ns FROM host_states
), own AS (
    SELECT s.rank, greatest(s.at_ns, p.first_ns) AS from_ns, least(s.end_ns, p.last_ns) AS end_ns
    FROM state s JOIN span p ON p.rank = s.rank JOIN scope c ON c.rank = s.rank
    WHERE s.cause = 'allocation' AND NOT (s.is_counted AND c.has_steps)
), own_once AS (
    -- Threads of several devices may allocate at once.
    SELECT rank, end_ns, greatest(from_ns, max(end_ns) OVER (PARTITION BY rank ORDER BY from_ns, end_ns DESC
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)) AS from_ns
    FROM own
), during AS (
    -- Busy time between two moments is the difference of what lies before them.
    SELECT o.rank, o.end_ns - o.from_ns - coalesce(z.before_ns + least(o.end_ns, z.end_ns) - z.from_ns, 0)
        + coalesce(a.before_ns + least(o.from_ns, a.end_ns) - a.from_ns, 0) AS idle_ns
    FROM (FROM own_once WHERE end_ns > from_ns) o
    ASOF LEFT JOIN stretches a ON a.rank = o.rank AND o.from_ns >= a.from_ns
    ASOF LEFT JOIN stretches z ON z.rank = o.rank AND o.end_ns >= z.from_ns
), lost AS (
    SELECT rank, sum(idle_ns) AS idle_ns FROM during GROUP BY rank
), kinds AS (
    SELECT a.rank, regexp_replace(a.name, '_v\d+$', '') AS name, coalesce(o.name, '(no operator)') AS operator,
        count(*) AS calls, sum(a.dur_ns) AS call_ns
    FROM blocking_calls a LEFT JOIN raw.ops o ON o.id = a.op_id
    WHERE a.cause = 'allocation'
        AND NOT EXISTS (FROM counted_windows w WHERE w.rank = a.rank AND w.step = a.step)
    GROUP BY ALL
)
SELECT k.rank, format('{} call{}{} allocate{} or free{} device memory; the device does nothing for {:.3f} ms of that '
        || 'time.', sum(k.calls), if(sum(k.calls) = 1, '', 's'), if(any_value(c.has_steps), ' outside the steps', ''),
        if(sum(k.calls) = 1, 's', ''), if(sum(k.calls) = 1, 's', ''), any_value(l.idle_ns) / 1e6) AS problem,
    'Mostly under ' || nullif(arg_max(k.operator, k.call_ns), '(no operator)') AS place,
    any_value(l.idle_ns) AS saving_ns,
    'medium: the first calls also start the device and load code, which some other call would do in their place'
        AS confidence,
    list(format('{} under {}: {} calls, {:.3f} ms of the host', k.name, k.operator, k.calls, k.call_ns / 1e6)
        ORDER BY k.call_ns DESC, k.name, k.operator)[:20] AS evidence
FROM kinds k JOIN lost l ON l.rank = k.rank JOIN recordings r ON r.rank = k.rank JOIN scope c ON c.rank = k.rank
GROUP BY k.rank
HAVING 100.0 * any_value(l.idle_ns) > $start_run_pct * any_value(r.run_ns)
ORDER BY k.rank
