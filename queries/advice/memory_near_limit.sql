-- title = "Device memory near its limit"
-- doc = """The framework holds more than a given share of the device's memory. The bound is the time of the calls that
-- allocate and free device memory in steps after warm-up; no bound where those are not recorded. An inference engine
-- fills the memory with its cache of keys and values by design: of one it cannot tell."""
-- why = """Near the limit the allocator frees and reallocates blocks, libraries fall back to algorithms with small
-- workspaces, and the next larger shape runs out of memory."""
-- cost = "Recomputation takes time, a smaller batch changes training, half precision reduces accuracy."
-- unless = """The framework reserves all memory at the start by design (TensorFlow, JAX, an inference engine):
-- then look at what it allocates from that."""
-- needs = ["memory_share"]
-- [fix]
-- pytorch = """torch.utils.checkpoint, a smaller batch with accumulation, torch.autocast, optimizers that shard or
-- quantise their state; PYTORCH_ALLOC_CONF=expandable_segments:True against fragmentation"""
-- tensorflow = "a smaller batch, mixed_float16, tf.recompute_grad"
-- jax = "jax.checkpoint, donate_argnums, a smaller batch"
-- mxnet = "MXNET_BACKWARD_DO_MIRROR=1, a smaller batch"
-- any = "a smaller batch, half precision, recomputation"
-- [params]
-- memory_pct = { type = "DOUBLE", default = 90, doc = "found above this share of the device's memory, in percent" }
WITH peak AS (
    SELECT c.rank, c.device, c.name, max(c.value) AS peak_bytes, any_value(d.memory_bytes) AS memory_bytes
    FROM raw.counters c JOIN raw.devices d ON d.rank = c.rank AND d.device = c.device AND d.kind = 'gpu'
    WHERE c.name IN ('allocated_bytes', 'reserved_bytes') AND d.memory_bytes > 0 GROUP BY c.rank, c.device, c.name
), high AS (
    SELECT *, rank IN (SELECT rank FROM known_frameworks WHERE is_engine) AS is_engine FROM peak
    WHERE 100.0 * peak_bytes > $memory_pct * memory_bytes
), calls AS (
    SELECT a.rank, sum(a.dur_ns / c.n_steps) AS own_ns FROM blocking_calls a JOIN scope c ON c.rank = a.rank
        AND c.has_steps
    WHERE a.cause = 'allocation'
        AND (a.rank, a.step) IN (SELECT (rank, step) FROM step_times WHERE NOT is_warmup)
    GROUP BY a.rank
)
SELECT h.rank, if(h.is_engine, NULL, format('{} reach {:.1f} % of the device''s {:.2f} GB.',
        arg_max(h.name, h.peak_bytes / h.memory_bytes), max(100.0 * h.peak_bytes / h.memory_bytes),
        arg_max(h.memory_bytes, h.peak_bytes / h.memory_bytes) / 1e9)) AS problem,
    if(h.is_engine, 'allocations', 'Device ' || arg_max(h.device, h.peak_bytes / h.memory_bytes)) AS place,
    any_value(c.own_ns) AS saving_ns,
    if(h.is_engine, 'an inference engine fills the memory with its cache of keys and values by design',
        'high for the memory; what it costs is not recorded') AS confidence,
    list(format('device {}: {} {:.2f} GB', h.device, h.name, h.peak_bytes / 1e9)
        ORDER BY h.peak_bytes DESC, h.device, h.name) AS evidence
FROM high h LEFT JOIN calls c ON c.rank = h.rank
GROUP BY h.rank, h.is_engine
ORDER BY h.rank
