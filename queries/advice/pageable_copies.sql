-- title = "Copies from or to pageable memory"
-- doc = """Copies between host and device whose host memory is pageable, without those too small for pinning to matter
-- (see tiny_copies). The bound is their time, less what overlaps work that started earlier on the device, plus the wait
-- until the next work of the same step."""
-- why = """Pageable memory is copied through a staging buffer at a fraction of the link bandwidth, and the host waits
-- for it; pinned memory is copied at full bandwidth and overlaps with computation."""
-- cost = "Pinned host memory cannot be swapped out: pin the batches in flight, not the data set."
-- unless = "The copy happens once, before training, or host memory is scarce."
-- needs = ["host_memory_kinds"]
-- removes = "pageable_copies"
-- [fix]
-- pytorch = "DataLoader(..., pin_memory=True) and tensor.to(device, non_blocking=True)"
-- tensorflow = "tf.data with prefetch to the device: dataset.apply(tf.data.experimental.prefetch_to_device('/gpu:0'))"
-- jax = "jax.device_put of the next batch before this step's result is used"
-- mxnet = "DataLoader(..., pin_memory=True), and as_in_context one batch ahead"
-- keras = "a tf.data pipeline with prefetch, or a DataLoader(..., pin_memory=True)"
-- any = "allocate the host buffers with cudaHostAlloc or hipHostMalloc and copy asynchronously on a stream of its own"
-- [params]
-- pageable_step_pct = { type = "DOUBLE", default = 1, doc = """found above this share of the step (without steps: of
-- the device's busy time), in percent""" }
-- pageable_link_pct = { type = "DOUBLE", default = 70, doc = """not found where the copies already run at this share of
-- the link's rate, in percent""" }
-- pageable_from_bytes = { type = "BIGINT", default = 4096, doc = "only copies of at least this size" }
WITH lost AS (
    FROM host_copies WHERE size_bytes >= $pageable_from_bytes AND host_kind = 'pageable'
), whole AS (
    -- Without steps the recording may be mostly idle: then the time in which the device was busy is what counts.
    SELECT c.rank, any_value(s.n_steps) AS n_steps,
        if(any_value(s.has_steps), any_value(s.step_ns), sum(c.mean_ns)) AS whole_ns,
        (SELECT any_value(p.host_link_bytes_per_s) FROM device_peaks p WHERE p.rank = c.rank AND p.is_used) AS link
    FROM counted c JOIN scope s ON s.rank = c.rank GROUP BY c.rank
), kinds AS (
    SELECT rank, direction, size_bytes, operator, count(*) / any_value(per) AS calls, sum(lost_ns / per) AS lost_ns,
        sum(own_ns / per) AS own_ns, sum(size_bytes / per) AS moved_bytes, sum(dur_ns / per) AS dur_ns,
        max(lost_ns - own_ns) AS most_ns, max(own_ns) AS longest_ns, sum(lost_ns) AS all_ns,
        sum(lost_ns / per) FILTER (is_upload) AS upload_ns
    FROM (SELECT l.*, coalesce(l.direction = 'HtoD' AND l.start_ns < f.first_ns, false) AS is_upload
        FROM lost l LEFT JOIN (SELECT rank, min(first_ns) AS first_ns FROM totals WHERE kind = 'kernel' GROUP BY rank) f
            USING (rank))
    GROUP BY ALL
)
SELECT k.rank,
    format('{:.1f} copies move {:.2f} MB from or to pageable memory at {:.1f} GB/s; the device spends {:.3f} ms on '
        || 'them and waits {:.3f} ms after them.',
        sum(calls), sum(moved_bytes) / 1e6, sum(moved_bytes) / nullif(sum(dur_ns), 0), sum(own_ns) / 1e6,
        (sum(lost_ns) - sum(own_ns)) / 1e6) || if(any_value(p.pins),
        format(' The DataLoader ({}) pins its batches already: these are copies of others.', any_value(p.loads)), '')
        AS problem,
    'Mostly under ' || nullif(arg_max(operator, lost_ns), '(no operator)') AS place,
    sum(lost_ns) AS saving_ns,
    coalesce(one_event('wait after a copy', max(most_ns), sum(all_ns), any_value(w.n_steps)),
        one_event('copy', max(longest_ns), sum(all_ns), any_value(w.n_steps)), CASE
        WHEN any_value(w.n_steps) < 2 AND sum(upload_ns) > 0.5 * sum(lost_ns)
        THEN format('low: {:.3f} ms of it are before the first kernel, as where weights are brought to the device '
            || 'once', sum(upload_ns) / 1e6)
        WHEN sum(own_ns) < 0.5 * sum(lost_ns)
        THEN 'medium: most of it is waits after the copies; that these go with them is possible, not certain'
        ELSE 'high: the profiler recorded the kind of memory; pinned copies take time too, so this is all that could go'
        END) AS confidence,
    list(format('{} of {} bytes under {}: {:.1f}, {:.3f} ms', direction, size_bytes, operator, calls, lost_ns / 1e6)
        ORDER BY lost_ns DESC, direction, size_bytes, operator) AS evidence
FROM kinds k JOIN whole w USING (rank)
    LEFT JOIN (SELECT rank, loads, pins FROM processes) p USING (rank)
GROUP BY k.rank
HAVING 100.0 * sum(lost_ns) > $pageable_step_pct * any_value(w.whole_ns)
    AND 100e9 * sum(moved_bytes) / nullif(sum(dur_ns), 0) < $pageable_link_pct * coalesce(any_value(w.link),
        'infinity'::DOUBLE)
ORDER BY k.rank
