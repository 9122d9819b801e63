-- title = "Many tiny copies"
-- doc = """Copies between host and device below a few kilobytes: each costs a call, and to the host a wait. The bound
-- is their time, less what overlaps work that started earlier on the device, plus the wait until the next work of the
-- same step."""
-- why = """A copy of a few bytes takes as long as a copy of a hundred kilobytes; values read one by one also make the
-- host wait for the device (.item(), float(loss), printing a tensor)."""
-- cost = "None, but values that are read less often are available later."
-- unless = "The program needs the value in every step (loss scaling, early exit)."
-- needs = ["copy_sizes"]
-- removes = "tiny_copies"
-- [fix]
-- pytorch = """read .item(), .cpu() and float(tensor) every n steps, keep running sums on the device; create tensors
-- with device='cuda' and stack scalars before one copy; optimizers with foreach=True, or capturable=True"""
-- tensorflow = """keep the input pipeline and step counters on the CPU and variables on the GPU (tf.device); return
-- metrics every n steps (steps_per_execution)"""
-- jax = "no float(x) or np.asarray(x) of step results inside the loop; read them every n steps"
-- mxnet = "no asscalar() or asnumpy() inside the loop; update metrics every n batches"
-- keras = "model.compile(..., steps_per_execution=n)"
-- any = "pack small values into one buffer and copy it once; read results every n steps"
-- [params]
-- tiny_below_bytes = { type = "BIGINT", default = 4096, doc = "a copy is tiny below this size" }
-- tiny_per_step = { type = "DOUBLE", default = 20, doc = "found above this number per step" }
-- tiny_busy_pct = { type = "DOUBLE", default = 1, doc = """and where they cost above this share of the device's busy
-- time, in percent""" }
WITH kinds AS (
    SELECT rank, direction, operator, count(*) / any_value(per) AS calls, sum(own_ns / per) AS own_ns,
        sum(lost_ns / per) AS lost_ns, sum(size_bytes / per) AS moved_bytes,
        max(lost_ns - own_ns) AS most_ns, sum(lost_ns) AS all_ns
    FROM host_copies WHERE size_bytes < $tiny_below_bytes GROUP BY ALL
)
SELECT rank,
    format('{:.1f} copies move {:.1f} kB in all; the device spends {:.3f} ms on them and waits {:.3f} ms after them.',
        sum(calls), sum(moved_bytes) / 1e3, sum(own_ns) / 1e6, (sum(lost_ns) - sum(own_ns)) / 1e6) AS problem,
    'Mostly under ' || nullif(arg_max(operator, lost_ns), '(no operator)') AS place,
    sum(lost_ns) AS saving_ns,
    coalesce(one_event('wait after a copy', max(most_ns), sum(all_ns), any_value(n_steps)), CASE
        WHEN sum(own_ns) < 0.5 * sum(lost_ns)
        THEN 'medium: most of it is waits after the copies; that these go with them is possible, not certain'
        ELSE 'high for the copies; that removing them also removes the waits after them is possible, not certain' END)
        AS confidence,
    list(format('{} under {}: {:.1f}, {:.3f} ms', direction, operator, calls, lost_ns / 1e6)
        ORDER BY lost_ns DESC, direction, operator) AS evidence
FROM kinds JOIN device_busy USING (rank) JOIN (SELECT rank, n_steps FROM scope) USING (rank)
GROUP BY rank
HAVING sum(calls) > $tiny_per_step AND 100.0 * sum(lost_ns) > $tiny_busy_pct * any_value(busy_ns)
ORDER BY rank
