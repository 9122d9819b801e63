-- title = "More communication than computation"
-- doc = """Ranks whose collectives, without waiting for other ranks where it is known, run longer per step than
-- everything that they compute. The bound is the exposed communication, of a call no more than what is left of it
-- without the waiting: the most that a step can gain from less communication or more computation per exchange."""
-- why = """Even if perfectly hidden, communication then determines the step time. Gradients have the same size for any
-- batch size, so with little work per rank their exchange takes longest; tokens and activations that ranks exchange
-- grow with the batch as computing does."""
-- cost = "Larger batches need memory and a different learning rate; compression changes gradients."
-- unless = "The ranks mostly wait for a slower one: compare their step times first."
-- same_time_as = "exposed_communication"
-- needs = ["communication"]
-- [fix]
-- engine = """fewer ranks for one copy of the model, and more copies; ranks that share a layer or its experts side by
-- side on one machine; tokens that go to experts in fp8"""
-- pytorch = """gradients: a larger batch per rank; DDP: no_sync() over several micro-batches, fp16_compress_hook or
-- bf16_compress_hook; fully_shard: set_requires_gradient_sync(False) over several micro-batches,
-- reshard_after_forward=False, MixedPrecisionPolicy(reduce_dtype=torch.bfloat16); tokens and activations: fewer
-- ranks for one layer or its experts; NCCL over NVLink or InfiniBand (NCCL_DEBUG=INFO shows the way taken)"""
-- pytorch_cpu = """gradients: a larger batch per rank; DDP: no_sync() over several micro-batches, bf16_compress_hook;
-- fully_shard: set_requires_gradient_sync(False) over several micro-batches, reshard_after_forward=False,
-- MixedPrecisionPolicy(reduce_dtype=torch.bfloat16); fewer ranks with more threads each"""
-- tensorflow = "a larger batch per replica; NcclAllReduce in MirroredStrategy; bf16 gradients"
-- jax = "a larger batch per device, gradient accumulation, bf16 gradients"
-- mxnet = "a larger batch per worker; kvstore='nccl' or 'device' instead of 'local'; gradient compression"
-- any = """a larger batch per rank, an all-reduce instead of a parameter server, gradients in half precision; check the
-- topology (PCIe ACS, NVLink)"""
-- [params]
-- comm_to_compute_pct = { type = "DOUBLE", default = 100, doc = """found where communication takes more than this share
-- of the computing time, in percent""" }
WITH sent AS (
    SELECT e.rank, e.what AS kind, e.step_own_ns AS own_ns,
        least(e.step_exposed_ns, coalesce(w.step_transfer_ns, e.step_exposed_ns)) AS exposed_ns, e.size_bytes, e.per,
        -- Of calls at the same time the later one has only what is left of it.
        if(w.id IS NULL, NULL, least(w.step_wait_ns, e.step_own_ns)) AS wait_ns
    FROM exchanges e LEFT JOIN complete_waits w ON w.rank = e.rank AND w.id = e.id
    WHERE e.is_counted AND e.id NOT IN (SELECT id FROM hung_calls)
), kinds AS (
    SELECT rank, kind, count(*) AS n, count(wait_ns) AS n_known, n / any_value(per) AS calls,
        sum(own_ns / per) AS own_ns, sum(exposed_ns / per) AS exposed_ns, sum(size_bytes / per) AS size_bytes,
        if(rank IN (SELECT rank FROM unknown_waits), NULL, sum(wait_ns / per)) AS wait_ns
    FROM sent GROUP BY rank, kind
), compute AS (
    SELECT rank, sum(greatest(end_ns - greatest(start_ns, coalesce(until_ns, start_ns)), 0) / per) AS compute_ns
    FROM (SELECT rank, start_ns, end_ns, per, max(end_ns) OVER (PARTITION BY rank ORDER BY start_ns, end_ns DESC, id
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS until_ns
        FROM counted WHERE category <> 'communication' AND kind <> 'copy')
    GROUP BY rank
)
SELECT k.rank, format('Collectives run for {:.3f} ms, computing takes {:.3f} ms.', sum(own_ns) / 1e6,
    any_value(c.compute_ns) / 1e6) AS problem,
    'Mostly in ' || nullif(arg_max(kind, own_ns), '(unknown)') AS place, sum(exposed_ns) AS saving_ns,
    coalesce(format('low: {}: how much of it is waiting is not known', any_value(u.told)),
        'high for the times; ' || coalesce(format('{:.3f} ms of them is waiting for other ranks{}',
        sum(wait_ns) / 1e6, if(sum(n_known) < sum(n), format(', known of {} of {} calls', sum(n_known), sum(n)), '')),
        if((SELECT count(*) FROM raw.ranks) > 1,
        'how much of them is waiting for other ranks is not known',
        'one rank cannot show how much of them is waiting for other ranks'))) AS confidence,
    list(format('{}: {:.1f} calls, {:.3f} ms{}', kind, calls, own_ns / 1e6,
        coalesce(format(', {:.2f} MB', size_bytes / 1e6), ''))
        ORDER BY own_ns DESC, kind) AS evidence
FROM kinds k JOIN compute c USING (rank)
LEFT JOIN unknown_waits u ON u.rank = k.rank
GROUP BY k.rank
HAVING 100.0 * (sum(own_ns) - coalesce(sum(wait_ns), 0)) > $comm_to_compute_pct * any_value(c.compute_ns)
ORDER BY k.rank
