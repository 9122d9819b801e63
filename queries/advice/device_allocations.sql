-- title = "Device memory allocated and freed in every step"
-- doc = """Calls that allocate or free device memory in every step after warm-up. The bound is the time in which they
-- run and the device does nothing."""
-- why = """Freeing device memory waits until the device has finished all queued work; a caching allocator allocates
-- once and does not wait."""
-- cost = "The process holds on to the device memory."
-- unless = "Shapes grow from step to step, so that new blocks are needed."
-- needs = ["several_steps", "runtime_calls"]
-- removes = "device_allocations"
-- [fix]
-- pytorch = """no PYTORCH_NO_CUDA_MEMORY_CACHING, no torch.cuda.empty_cache() in the loop;
-- PYTORCH_ALLOC_CONF=expandable_segments:True; on AMD MIOPEN_FIND_MODE=FAST or torch.backends.cudnn.benchmark = True,
-- so that workspaces are asked for once; a smaller batch if memory is near its limit"""
-- tensorflow = "TF_GPU_ALLOCATOR left at its default; no per-step sessions"
-- jax = "XLA_PYTHON_CLIENT_PREALLOCATE left at its default, no XLA_PYTHON_CLIENT_ALLOCATOR=platform"
-- mxnet = "MXNET_GPU_MEM_POOL_TYPE=Round"
-- any = "a caching allocator for device memory"
-- [params]
-- alloc_step_pct = { type = "DOUBLE", default = 1, doc = "found above this share of the step, in percent" }
WITH call AS (
    SELECT a.id, a.rank, a.step, regexp_replace(a.name, '_v\d+$', '') AS name,
        coalesce(o.name, '(no operator)') AS operator, a.start_ns,
        a.end_ns, c.n_steps, c.step_ns
    FROM blocking_calls a JOIN scope c USING (rank) LEFT JOIN raw.ops o ON o.id = a.op_id
    WHERE a.cause = 'allocation'
        AND (a.rank, a.step) IN (SELECT (rank, step) FROM step_times WHERE NOT is_warmup)
), own AS (
    SELECT *,
        greatest(end_ns - greatest(start_ns,
        coalesce(max(end_ns) OVER (PARTITION BY rank ORDER BY start_ns, end_ns DESC, id
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), start_ns)), 0) / n_steps AS own_ns
    FROM call
), kinds AS (
    SELECT rank, name, operator, count(*) / any_value(n_steps) AS calls, sum(own_ns) AS own_ns FROM own
    GROUP BY rank, name, operator
), idle AS (
    SELECT rank, sum(saved_ns) AS idle_ns FROM removable WHERE cost = 'allocations' GROUP BY rank
), steady AS (
    SELECT rank, any_value(step_ns) AS step_ns FROM call GROUP BY rank HAVING count(DISTINCT step) = any_value(n_steps)
)
SELECT k.rank, format('{:.1f} calls allocate or free device memory and take {:.3f} ms of the host.', sum(calls),
    sum(own_ns) / 1e6) AS problem,
    'Mostly under ' || nullif(arg_max(operator, own_ns), '(no operator)') AS place,
    any_value(i.idle_ns) AS saving_ns,
    'high: the device does nothing while they run' AS confidence,
    list(format('{} under {}: {:.1f} calls, {:.3f} ms', name, operator, calls, own_ns / 1e6)
        ORDER BY own_ns DESC, name, operator)[:20] AS evidence
FROM kinds k JOIN steady s USING (rank) JOIN idle i USING (rank)
GROUP BY k.rank
HAVING 100.0 * any_value(i.idle_ns) > $alloc_step_pct * any_value(s.step_ns)
ORDER BY k.rank
