-- title = "Forward operators that run again for the gradient"
-- doc = """Activation checkpointing: operators of the forward pass that run a second time within the backward pass,
-- because what they made was not kept. The bound is their time, less what overlaps earlier work on the device: with
-- enough memory none of them has to run again. Where allocations are recorded, each module has the memory that would be
-- kept instead: what its operators allocate when they run again, and what is there after the last of them."""
-- why = """A checkpointed module throws away what its operators made, and computes it again for its gradient: time for
-- memory."""
-- cost = "Memory for everything that is kept instead."
-- unless = "The memory is needed: without checkpoints the batch, or the model, does not fit."
-- needs = ["operator_sizes", "linked_work"]
-- sees = "all"
-- removes = "recomputation"
-- [fix]
-- pytorch = """checkpoint fewer modules, those first that are cheap for what they keep, or keep results of products
-- alone (torch.utils.checkpoint.create_selective_checkpoint_contexts); no checkpoints where the memory suffices"""
-- jax = "jax.checkpoint with a policy (dots_saveable), or around fewer functions"
-- any = "checkpoint fewer modules"
-- [params]
-- recompute_step_pct = { type = "DOUBLE", default = 0.5, doc = "found above this share of the step, in percent" }
WITH kinds AS (
    SELECT rank, alike(coalesce(module, '(no module)')) AS place, count(DISTINCT module) AS n_modules,
        sum(own_ns) AS own_ns, sum(own_ns) FILTER (family IN ('gemm', 'conv', 'attention')) AS product_ns,
        any_value(step_ns) AS step_ns
    FROM op_floors WHERE is_recompute GROUP BY ALL
), everything AS (
    SELECT rank, sum(own_ns) AS own_ns FROM op_floors GROUP BY rank
), burst AS (
    SELECT f.*, f.start_ns + o.dur_ns AS end_ns, count(nullif(f.is_recompute, true)) OVER (
        PARTITION BY f.rank, f.pid, f.tid ORDER BY f.start_ns ROWS UNBOUNDED PRECEDING) AS burst
    FROM op_floors f JOIN raw.ops o ON o.id = f.op_id WHERE EXISTS (FROM raw.allocations)
), again AS (
    SELECT *, max(end_ns) OVER (PARTITION BY rank, pid, tid, burst) AS last_ns FROM burst WHERE is_recompute
), kept AS (
    SELECT b.rank, alike(coalesce(b.module, '(no module)')) AS place, sum(a.size_bytes / b.per) AS bytes
    FROM raw.allocations a JOIN raw.ops o ON o.id = a.op_id
    ASOF JOIN again b ON b.rank = o.rank AND b.pid IS NOT DISTINCT FROM o.pid AND b.tid IS NOT DISTINCT FROM o.tid
        AND o.start_ns >= b.start_ns
    WHERE o.start_ns < b.end_ns AND a.size_bytes > 0 AND coalesce(a.freed_ns > b.last_ns, true) GROUP BY ALL
), memory AS (
    SELECT c.rank, max(c.value) AS used, max(d.memory_bytes) AS size FROM raw.counters c
    JOIN raw.devices d ON d.rank = c.rank AND d.device = c.device
    WHERE c.name = 'allocated_bytes' AND d.kind = 'gpu' GROUP BY c.rank
)
SELECT k.rank,
    format('Of {:.3f} ms of operators {:.3f} ms are the forward pass again{}.', any_value(e.own_ns) / 1e6,
        sum(k.own_ns) / 1e6, coalesce(format(', {:.3f} ms of it products', sum(k.product_ns) / 1e6), ''))
        AS problem,
    format('Mostly in {}{}', if(arg_max(k.n_modules, k.own_ns) > 1, arg_max(k.n_modules, k.own_ns) || ' modules ', ''),
        arg_max(k.place, k.own_ns)) AS place,
    sum(k.own_ns) AS saving_ns,
    'high that they run again, by autograd''s marks or, in compiled code, by the arguments of its forward pass; '
        || 'whether the memory suffices without is not recorded' AS confidence,
    list(format('{}{}: {:.3f} ms{}{}', k.place, if(k.n_modules > 1, format(' ({} modules)', k.n_modules), ''),
        k.own_ns / 1e6, coalesce(format(', products {:.3f} ms', k.product_ns / 1e6), ''),
        coalesce(format('; {:.2f} MB to keep instead', p.bytes / 1e6), '')) ORDER BY k.own_ns DESC, k.place)[:10]
        || if(count(p.bytes) < 2, [], [format('per memory {} gives back most time without its checkpoint ({:.3f} ms '
            || 'for a MB), {} least ({:.3f} ms)', arg_max(k.place, k.own_ns / p.bytes), max(k.own_ns / p.bytes),
            arg_min(k.place, k.own_ns / p.bytes), min(k.own_ns / p.bytes))])
        || if(any_value(m.used) IS NULL, [], [format('at most {:.2f} GB of memory were allocated{}',
            any_value(m.used) / 1e9, coalesce(format(', of {:.1f} GB', any_value(m.size) / 1e9), ''))]) AS evidence
FROM kinds k JOIN everything e USING (rank) LEFT JOIN memory m USING (rank)
LEFT JOIN kept p ON p.rank = k.rank AND p.place = k.place
GROUP BY k.rank
HAVING 100.0 * sum(k.own_ns) > $recompute_step_pct * any_value(k.step_ns)
ORDER BY k.rank
