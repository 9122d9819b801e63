-- title = "Waiting for data"
-- doc = """Time of the step in which the host loads the next batch and the device runs nothing. The bound is that time;
-- on a CPU it is all the loading in the step's own thread. Where workers load, `data_workers` speaks instead."""
-- why = "The batch is read and prepared between steps instead of in parallel with them, so the device waits for it."
-- cost = """Host memory and cores for the workers. Where these are not forked (PyTorch on Python 3.14 and later), the
-- script has to ask `if __name__ == "__main__":` before it trains."""
-- unless = """Storage or preparation is the bottleneck even with workers: then a faster file format or preparation on
-- the device helps. Without persistent_workers where the script changes the data set between epochs: workers that stay
-- go on with the first one."""
-- needs = ["activities", "data_phase"]
-- removes = "data_loading"
-- [fix]
-- pytorch = """DataLoader(..., num_workers=n, persistent_workers=True, prefetch_factor=2, pin_memory=True), n at least
-- 1 and at most the cores that are free"""
-- pytorch_cpu = """DataLoader(..., num_workers=n, persistent_workers=True, prefetch_factor=2), n at least 1 and at most
-- the cores that are free"""
-- tensorflow = "dataset.map(..., num_parallel_calls=tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE), cache() if it fits"
-- jax = "a loader with worker processes (grain, tf.data) and jax.device_put one batch ahead"
-- mxnet = "DataLoader(..., num_workers=n), n at most the cores that are free; PrefetchingIter"
-- keras = "a tf.data pipeline with prefetch, or PyDataset(workers=n, use_multiprocessing=True)"
-- any = "load and prepare the next batch in other threads or processes while the step runs"
-- [params]
-- data_step_pct = { type = "DOUBLE", default = 5, doc = "found above this share of the step, in percent" }
SELECT rank,
    format('Loading data takes {:.3f} ms{}, of which the device runs nothing for {:.3f} ms.', load_ns / 1e6,
        coalesce(' (' || loads || ')', ''), wait_ns / 1e6) AS problem,
    NULL AS place, wait_ns AS saving_ns, confidence, evidence
FROM loading
WHERE NOT by_workers AND 100.0 * wait_ns > $data_step_pct * step_ns
ORDER BY rank
