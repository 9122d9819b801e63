-- title = "Many small collectives"
-- doc = """Many collectives per step that each move little. The bound is their exposed time beyond what their bytes
-- would take at the best rate that any collective of that kind reached in the trace (all of it where there is no larger
-- one). Sends and receives are left out: no bucket joins messages of micro-batches."""
-- why = """Every collective has a start-up cost on all ranks; many small ones pay it many times, one large one only
-- once."""
-- cost = "Larger buckets need memory and are sent later, so less of them may be hidden."
-- unless = "The small collectives are hidden behind computation, or carry values that the next operator needs."
-- needs = ["communication", "collective_sizes"]
-- removes = "communication"
-- [fix]
-- pytorch = """DistributedDataParallel(bucket_cap_mb=25 or more, gradient_as_bucket_view=True); coalesced collectives
-- instead of one per tensor"""
-- tensorflow = "num_packs in the cross-device ops, or HOROVOD_FUSION_THRESHOLD"
-- jax = "one psum of the whole gradient tree (jax.lax.psum of a pytree under one jit)"
-- mxnet = "MXNET_UPDATE_AGGREGATION_SIZE, or Horovod with HOROVOD_FUSION_THRESHOLD"
-- any = "fuse gradients into buckets of some megabytes before each collective"
-- [params]
-- bucket_below_bytes = { type = "BIGINT", default = 1048576, doc = "a collective is small below this size" }
-- bucket_per_step = { type = "DOUBLE", default = 10, doc = "found above this number of small ones per step" }
-- bucket_step_pct = { type = "DOUBLE", default = 1, doc = """and where they cost above this share of the step, in
-- percent""" }
WITH sent AS (
    SELECT rank, what AS kind, size_bytes, dur_ns, step_exposed_ns AS exposed_ns, per, step_ns
    FROM exchanges
    WHERE is_counted AND size_bytes IS NOT NULL AND what NOT IN ('send', 'recv', 'send_recv')
        AND id NOT IN (SELECT id FROM hung_calls)
), best AS (
    SELECT rank, kind, max(size_bytes / dur_ns) AS bytes_per_ns FROM sent WHERE size_bytes >= $bucket_below_bytes
        AND dur_ns > 0 GROUP BY rank, kind
), kinds AS (
    SELECT s.rank, s.kind, count(*) / any_value(s.per) AS calls, sum(s.size_bytes / s.per) AS size_bytes,
        sum(s.exposed_ns / s.per) AS exposed_ns,
        sum(greatest(s.exposed_ns - coalesce(s.size_bytes / b.bytes_per_ns, 0), 0) / s.per) AS lost_ns,
        any_value(s.step_ns) AS step_ns
    FROM sent s LEFT JOIN best b ON b.rank = s.rank AND b.kind = s.kind
    WHERE s.size_bytes < $bucket_below_bytes GROUP BY s.rank, s.kind
)
SELECT rank, format('{:.1f} collectives move {:.1f} kB in all and cost {:.3f} ms of exposed time.', sum(calls),
    sum(size_bytes) / 1e3,
        sum(exposed_ns) / 1e6) AS problem,
    'Mostly in ' || nullif(arg_max(kind, lost_ns), '(unknown)') AS place, sum(lost_ns) AS saving_ns,
    coalesce(format('low: {}: how much of it is waiting is not known', any_value(told)),
        'high for sizes and times; some of the time may be waiting for other ranks') AS confidence,
    list(format('{}: {:.1f} calls, {:.1f} kB, {:.3f} ms', kind, calls, size_bytes / 1e3, exposed_ns / 1e6)
        ORDER BY lost_ns DESC, kind) AS evidence
FROM kinds LEFT JOIN (FROM unknown_waits WHERE NOT is_apart) USING (rank)
GROUP BY rank
HAVING sum(calls) > $bucket_per_step AND 100.0 * sum(lost_ns) > $bucket_step_pct * any_value(step_ns)
ORDER BY rank
