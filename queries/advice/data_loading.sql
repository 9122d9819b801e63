-- title = "Waiting for data"
-- doc = """Time of the step in which the host loads the next batch and the device runs nothing. The bound is that time;
-- on a CPU it is all the loading in the step's own thread."""
-- why = "The batch is read and prepared between steps instead of in parallel with them, so the device waits for it."
-- cost = "Host memory and cores for the workers."
-- unless = """Storage or preparation is the bottleneck even with workers: then a faster file format or preparation on
-- the device helps."""
-- needs = ["steps", "data_phase"]
-- removes = "data_loading"
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
), idle AS (
    SELECT rank, sum(saved_ns) AS idle_ns FROM removable WHERE cost = 'data' GROUP BY rank
), waited AS (
    SELECT l.rank, sum(l.dur_ns / l.n_steps) AS load_ns, any_value(l.step_ns) AS step_ns,
        list(format('step {}: {:.3f} ms of loading', l.step, l.dur_ns / 1e6) ORDER BY l.dur_ns DESC, l.step)[:10]
            AS evidence
    FROM load l GROUP BY l.rank
), bounded AS (
    SELECT w.*, if(w.rank IN (SELECT rank FROM raw.kernels), coalesce(i.idle_ns, 0), w.load_ns) AS wait_ns
    FROM waited w LEFT JOIN idle i USING (rank)
)
SELECT rank,
    format('Loading data takes {:.3f} ms, of which the device runs nothing for {:.3f} ms.', load_ns / 1e6,
        wait_ns / 1e6) AS problem,
    NULL AS place, wait_ns AS saving_ns, 'high: the loading is marked in the trace' AS confidence, evidence
FROM bounded
WHERE 100.0 * wait_ns > $data_step_pct * step_ns
ORDER BY rank
