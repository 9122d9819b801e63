-- title = "Exposed communication"
-- doc = """Time in which a collective ran and nothing computed on the same rank. The bound is that time; some of it is
-- waiting for slower ranks, which no option of the communication takes away: where a trace of the
-- job is missing it is not known how much, and the confidence is low."""
-- why = """Ranks communicate while nothing computes. Communication can overlap with work that does not need its result,
-- if started earlier: that of gradients, in buckets as soon as they are ready, with the backward pass."""
-- cost = """Device memory for buckets, or for parameters that stay whole; kernels that overlap with a collective run a
-- little slower."""
-- unless = "The ranks wait for a slower one: compare their step times first."
-- needs = ["communication", "activities"]
-- removes = "communication"
-- [fix]
-- engine = """fewer ranks for one copy of the model, and more copies; all-reduce and normalisation in one kernel
-- (SGLang --enable-flashinfer-allreduce-fusion); all-to-all of experts: one half of the batch computes while the other
-- communicates (vLLM --enable-dbo, SGLang --enable-two-batch-overlap)"""
-- pytorch = """gradients: DistributedDataParallel (not DataParallel) with the nccl backend, bucket_cap_mb and
-- static_graph=True, no find_unused_parameters, gradient accumulation under no_sync(); all-to-all of embeddings or of
-- experts' tokens: async_op=True, awaited where the result is needed; FullyShardedDataParallel: forward_prefetch and
-- backward_prefetch; fully_shard: reshard_after_forward=False, set_modules_to_forward_prefetch, gradient accumulation
-- with set_requires_gradient_sync(False); sends between stages of a pipeline: more and smaller micro-batches, isend
-- and irecv posted before the computing that they can overlap"""
-- pytorch_cpu = """DistributedDataParallel: bucket_cap_mb and static_graph=True, no find_unused_parameters, gradient
-- accumulation under no_sync(); fully_shard: reshard_after_forward=False, set_modules_to_forward_prefetch, gradient
-- accumulation with set_requires_gradient_sync(False); sends between stages: more and smaller micro-batches, isend and
-- irecv posted early; gloo over the fastest network (GLOO_SOCKET_IFNAME)"""
-- tensorflow = """tf.distribute.MirroredStrategy with NcclAllReduce;
-- tf.distribute.experimental.CommunicationOptions(bytes_per_pack=...)"""
-- jax = "XLA_FLAGS=--xla_gpu_enable_latency_hiding_scheduler=true"
-- mxnet = "kvstore='nccl', or Horovod; priorities by layer in push and pull"
-- any = """all-reduce instead of a parameter server, in buckets during the backward pass; larger batches; check the
-- links between the devices"""
-- [params]
-- exposed_step_pct = { type = "DOUBLE", default = 10, doc = "found above this share of the step, in percent" }
WITH sent AS (
    SELECT e.rank, e.what AS kind, e.step_exposed_ns AS exposed_ns, e.step_own_ns AS own_ns, e.per, e.step_ns,
        -- Hidden or not is known of a call as a whole: the wait is no more than what nothing hides of it.
        if(w.id IS NULL, NULL, least(w.step_wait_ns, e.step_exposed_ns)) AS wait_ns
    FROM exchanges e LEFT JOIN complete_waits w ON w.rank = e.rank AND w.id = e.id
    WHERE e.is_counted AND e.id NOT IN (SELECT id FROM hung_calls)
), kinds AS (
    SELECT rank, kind, count(*) AS n, count(wait_ns) AS n_known, n / any_value(per) AS calls,
        sum(exposed_ns / per) AS exposed_ns, sum(own_ns / per) AS own_ns, sum(wait_ns / per) AS wait_ns,
        any_value(step_ns) AS step_ns
    FROM sent GROUP BY rank, kind
)
SELECT rank,
    format('Collectives run for {:.3f} ms, of which {:.3f} ms while {}.', sum(own_ns) / 1e6, sum(exposed_ns) / 1e6,
        if(has_device, 'nothing computes', 'no recorded operator runs')) AS problem,
    'Mostly in ' || nullif(arg_max(kind, exposed_ns), '(unknown)') AS place, sum(exposed_ns) AS saving_ns,
    coalesce(any_value(told), if(has_device, 'high for the time; ',
        'medium: a processor may compute what is not an operator; ')
        || coalesce(format('up to {:.3f} ms of it is waiting for other ranks{}', sum(wait_ns) / 1e6,
                if(sum(n_known) < sum(n), format(', known of {} of {} calls', sum(n_known), sum(n)), '')),
            if((SELECT count(*) FROM raw.ranks) > 1, 'how much of it is waiting for other ranks is not known',
            'one rank cannot show how much of it is waiting for other ranks'))) AS confidence,
    list(format('{}: {:.1f} calls, {:.3f} ms, exposed {:.3f} ms', kind, calls, own_ns / 1e6, exposed_ns / 1e6)
        ORDER BY exposed_ns DESC, kind) AS evidence
FROM (SELECT k.*, k.rank IN (SELECT rank FROM raw.kernels) AS has_device,
        format('low: {}: how much of it is waiting is not known', u.told) AS told
    FROM kinds k LEFT JOIN unknown_waits u ON u.rank = k.rank)
GROUP BY rank, has_device
HAVING 100.0 * sum(exposed_ns) > $exposed_step_pct * any_value(step_ns)
ORDER BY rank
