-- title = "Waiting for data"
-- doc = """Time of the step in which the host loads the next batch and the device runs nothing. The bound is that time;
-- on a CPU it is all the loading in the step's own thread."""
-- why = "The batch is read and prepared between steps instead of in parallel with them, so the device waits for it."
-- cost = "Host memory and cores for the workers."
-- unless = """Storage or preparation is the bottleneck even with workers: then a faster file format or preparation on
-- the device helps."""
-- needs = ["steps", "data_phase"]
-- [fix]
-- pytorch = "DataLoader(..., num_workers=4 or more, persistent_workers=True, prefetch_factor=2, pin_memory=True)"
-- tensorflow = "dataset.map(..., num_parallel_calls=tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE), cache() if it fits"
-- jax = "a loader with worker processes (grain, tf.data) and jax.device_put one batch ahead"
-- mxnet = "DataLoader(..., num_workers=4 or more), PrefetchingIter"
-- keras = "a tf.data pipeline with prefetch, or PyDataset(workers=4, use_multiprocessing=True)"
-- any = "load and prepare the next batch in other threads or processes while the step runs"
-- [params]
-- data_step_pct = { type = "DOUBLE", default = 5, doc = "found above this share of the step, in percent" }
WITH load AS (
    -- Several threads may load at once: such a moment belongs to the one that began first.
    SELECT id, rank, step, from_ns AS start_ns, end_ns, end_ns - from_ns AS dur_ns, n_steps, step_ns
    FROM (SELECT r.*, r.start_ns + r.dur_ns AS end_ns, c.n_steps, c.step_ns,
        greatest(r.start_ns, coalesce(max(r.start_ns + r.dur_ns) OVER (
            PARTITION BY r.rank ORDER BY r.start_ns, r.dur_ns DESC, r.id
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), r.start_ns)) AS from_ns
        FROM raw.ranges r JOIN scope c USING (rank)
        WHERE r.kind = 'phase' AND r.name = 'data' AND r.depth = 0
            AND (r.rank, r.step) IN (SELECT (rank, step) FROM step_times WHERE NOT is_warmup))
    WHERE end_ns > from_ns
), used AS (
    SELECT l.id,
        sum(least(a.end_ns, l.end_ns) - greatest(a.start_ns, coalesce(a.rank_until_ns, a.start_ns), l.start_ns))
        AS busy_ns
    FROM load l JOIN activities a ON a.rank = l.rank AND a.kind IN ('kernel', 'copy') AND a.start_ns < l.end_ns
        AND a.end_ns > greatest(l.start_ns, coalesce(a.rank_until_ns, l.start_ns))
    GROUP BY l.id
), waited AS (
    SELECT l.*, greatest(l.dur_ns - coalesce(u.busy_ns, 0), 0) AS wait_ns FROM load l LEFT JOIN used u USING (id)
)
SELECT rank,
    format('Loading data takes {:.3f} ms, of which the device runs nothing for {:.3f} ms.',
        sum(dur_ns / n_steps) / 1e6, sum(wait_ns / n_steps) / 1e6) AS problem,
    NULL AS place, sum(wait_ns / n_steps) AS saving_ns,
    'high: the loading is marked in the trace' AS confidence,
    list(format('step {}: {:.3f} ms', step, wait_ns / 1e6) ORDER BY wait_ns DESC, step)[:10] AS evidence
FROM waited
GROUP BY rank
HAVING 100.0 * sum(wait_ns / n_steps) > $data_step_pct * any_value(step_ns)
ORDER BY rank
