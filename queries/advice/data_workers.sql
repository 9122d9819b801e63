-- title = "Waiting for workers that load data"
-- doc = """Time of the step in which it waits for a batch from the processes of a DataLoader and the device runs
-- nothing. The bound is that time. Without such workers see `data_loading`."""
-- why = """Workers prepare batches beside the step; where it waits for them again and again, they are too few, or each
-- has too much to do."""
-- cost = "Host memory and cores for more workers; a copy of the data in a form that is faster to read."
-- unless = "The wait is at the start of an epoch alone, when workers begin: persistent_workers=True keeps them."
-- needs = ["activities", "data_phase"]
-- removes = "data_loading"
-- [fix]
-- pytorch = """more workers as long as there are cores, or less work in each: decode and augment on the device, smaller
-- images, fewer and larger files; a higher prefetch_factor where batches differ in cost"""
-- any = "more loader processes as long as there are cores, or less work in each"
-- [params]
-- workers_step_pct = { type = "DOUBLE", default = 5, doc = "found above this share of the step, in percent" }
SELECT rank,
    format('Workers load the data{}, and the host still waits {:.3f} ms for them; the device runs nothing for '
        || '{:.3f} ms.', coalesce(' (' || loads || ')', ''), load_ns / 1e6, wait_ns / 1e6) AS problem,
    NULL AS place, wait_ns AS saving_ns, confidence, evidence
FROM loading
WHERE by_workers AND 100.0 * wait_ns > $workers_step_pct * step_ns
ORDER BY rank
