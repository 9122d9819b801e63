-- title = "Copies that nothing hides fill the device's time"
-- doc = """Time in which copies between host and device run and nothing else does. The bound is what overlap can give:
-- a step lasts at least as long as its copies, so all other time of it at most, and no more than is exposed. Where that
-- is nothing to speak of there is no bound: then only fewer bytes or a faster link help."""
-- why = """While the device only copies it computes nothing. Copies run beside kernels if they are asynchronous, from
-- pinned memory, and on a stream of their own; data that stay on the device need none."""
-- cost = "Memory on the device for a second set of buffers."
-- unless = "The recording is of the copies alone, as in a test of the link."
-- needs = ["host_copies"]
-- [fix]
-- pytorch = """copy the next batch while this one computes: a torch.cuda.Stream() of its own, pinned memory,
-- tensor.to(device, non_blocking=True); send uint8 images and convert them on the device; keep there what is used
-- again"""
-- tensorflow = "dataset.apply(tf.data.experimental.prefetch_to_device('/gpu:0')); send small types, cast on the device"
-- jax = "jax.device_put of the next batch before this step's result is used; donate and keep arrays on the device"
-- any = "copy asynchronously on a stream of its own while the device computes; send fewer bytes; keep data there"
-- [params]
-- copy_step_pct = { type = "DOUBLE", default = 20, doc = """found where exposed copies take more than this share of the
-- step (without steps: of the recording), in percent""" }
WITH device AS (
    SELECT a.rank, avg(a.exposed_copy_ns) AS exposed_ns, avg(e.copy_ns / a.per) AS copy_ns,
        any_value(a.step_ns) AS step_ns, any_value(a.n_steps) AS n_steps, any_value(a.per) AS per
    FROM account a LEFT JOIN exposed_copies e ON e.rank = a.rank AND e.device = a.device GROUP BY a.rank
), kinds AS (
    SELECT h.rank, direction, host_kind, operator, count(*) / any_value(per) AS calls, sum(own_ns / per) AS own_ns,
        sum(size_bytes / per) AS moved_bytes, sum(dur_ns / per) AS dur_ns, max(own_ns) AS most_ns,
        sum(own_ns / per) FILTER (direction = 'HtoD' AND start_ns < f.first_ns) AS upload_ns
    FROM host_copies h
    LEFT JOIN (SELECT rank, min(first_ns) AS first_ns FROM totals WHERE kind = 'kernel' GROUP BY rank) f USING (rank)
    GROUP BY ALL
), bounded AS (
    SELECT *, least(exposed_ns, greatest(step_ns - copy_ns, 0)) AS overlap_ns FROM device
)
SELECT b.rank,
    format('Copies between host and device run for {:.3f} ms, {:.3f} ms of it ({:.1f} %) with nothing beside them: '
        || '{:.1f} copies{}. Overlap with all other work gives {:.3f} ms at most; beyond that only fewer bytes or a '
        || 'faster link help.', any_value(b.copy_ns) / 1e6, any_value(b.exposed_ns) / 1e6,
        100.0 * any_value(b.exposed_ns) / any_value(b.step_ns), sum(k.calls),
        -- Some profilers record no sizes.
        coalesce(format(' of {:.2f} MB at {:.1f} GB/s', sum(k.moved_bytes) / 1e6,
            sum(k.moved_bytes) / nullif(sum(k.dur_ns) FILTER (k.moved_bytes IS NOT NULL), 0)), ''),
        any_value(b.overlap_ns) / 1e6) AS problem,
    'Mostly under ' || nullif(arg_max(k.operator, k.own_ns), '(no operator)') AS place,
    if(100.0 * any_value(b.overlap_ns) < any_value(b.step_ns), NULL, any_value(b.overlap_ns)) AS saving_ns,
    coalesce(one_event('copy', max(k.most_ns), any_value(b.exposed_ns * b.per), any_value(b.n_steps)), CASE
        WHEN any_value(b.n_steps) < 2 AND sum(k.upload_ns) > 0.5 * any_value(b.exposed_ns)
        THEN format('low: {:.3f} ms of it are before the first kernel, as where weights are brought to the device '
            || 'once', sum(k.upload_ns) / 1e6)
        ELSE 'high for the times; whether the work could run beside the copies is not recorded' END) AS confidence,
    list(format('{}{} under {}: {:.1f}, {:.3f} ms', k.direction, coalesce(' ' || k.host_kind, ''), k.operator, k.calls,
        k.own_ns / 1e6) ORDER BY k.own_ns DESC, k.direction, k.host_kind, k.operator)[:20] AS evidence
FROM bounded b JOIN kinds k ON k.rank = b.rank
WHERE 100.0 * b.exposed_ns > $copy_step_pct * b.step_ns
GROUP BY b.rank
ORDER BY b.rank
