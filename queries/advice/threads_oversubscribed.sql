-- title = "More threads than cores"
-- doc = """More threads than cores, all processes of the host together, in a run on a CPU. Threads that spin while
-- another one has no core take time from those that compute. Nothing in one run bounds that but the peak of the
-- processor, so the bound is what the work of a step takes beyond it (all of it where shapes or peak are not known). On
-- a machine that was busy with something else no bound is stated, nor where a process that could have had more than one
-- core took no more processor time than its operators lasted: no second thread is then shown to compute."""
-- why = """Every parallel loop ends when its last thread does; with more threads than cores some have to wait for a
-- core while the others spin."""
-- cost = "None."
-- unless = "The processes take turns, or threads mostly wait for input."
-- needs = ["cpu_threads"]
-- [fix]
-- pytorch = """OMP_NUM_THREADS or torch.set_num_threads(cores divided by the processes of the host); fewer DataLoader
-- workers, each with torch.set_num_threads(1)"""
-- tensorflow = """tf.config.threading.set_intra_op_parallelism_threads(cores) and set_inter_op_parallelism_threads(1 or
-- 2)"""
-- jax = "one process per host, or taskset -c for each"
-- mxnet = "OMP_NUM_THREADS=cores"
-- any = "OMP_NUM_THREADS=cores divided by the processes of the host"
-- [params]
-- cpu_turbo = { type = "DOUBLE", default = 1.5, doc = """a processor's clock is at most this many times the one that
-- the system names""" }
WITH host AS (
    SELECT r.host, sum(p.threads) AS threads, max(p.cores) AS cores, count(*) AS n,
        list(format('rank {}: {} threads', p.rank, p.threads) ORDER BY p.rank) AS processes
    FROM processes p JOIN raw.ranks r USING (rank) WHERE p.threads IS NOT NULL AND p.cores IS NOT NULL GROUP BY r.host
), work AS (
    SELECT rank, sum(mean_ns / per) AS busy_ns, any_value(step_ns) AS step_ns FROM counted GROUP BY rank
), least AS (
    -- Peaks are those of all threads: as many as there are cores count.
    SELECT v.rank, sum(f.direct_floor_ns / v.per) / $cpu_turbo * greatest(any_value(p.threads / p.cores), 1) AS floor_ns
    FROM counted_conv_calls v JOIN conv_floors f ON f.op_id = v.op_id AND f.direction = v.direction
    JOIN processes p ON p.rank = v.rank GROUP BY v.rank
)
SELECT w.rank, format('Threads: {}, cores: {}.', h.threads, h.cores) AS problem, 'On ' || h.host AS place,
    if(c.is_contended OR h.n < h.cores AND c.processor_ns <= c.operators_ns, NULL,
        least(greatest(w.busy_ns - coalesce(l.floor_ns, 0), 0),
            if(p.cores >= p.host_cores, w.step_ns * (p.busy_ns / nullif(p.host_cores * p.host_ns, 0)), NULL)))
        AS saving_ns,
    CASE WHEN c.is_contended THEN 'low: whether threads of this run wait for one another, and what that costs, is not '
            || 'known: other programs took processors too'
        WHEN p.cores >= p.host_cores AND p.busy_ns < 0.5 * p.host_cores * p.host_ns
            THEN 'low: most of the time of the cores was free, and a thread only waits while all of them are busy'
        WHEN c.processor_ns IS NULL OR h.n >= h.cores
            THEN 'medium: threads and cores are recorded; whether threads wait for cores is not'
        WHEN c.processor_ns > p.recorded_ns THEN 'high that threads wait for cores; for how long is not recorded'
        ELSE 'low: it is not known whether any loop is parallel; the processor time may be that of one thread' END
        AS confidence, h.processes AS evidence
FROM work w JOIN raw.ranks r USING (rank) JOIN processes p USING (rank)
JOIN host h ON h.host IS NOT DISTINCT FROM r.host
LEFT JOIN least l ON l.rank = w.rank LEFT JOIN contention c ON c.rank = w.rank
WHERE h.threads > h.cores AND w.rank NOT IN (SELECT rank FROM raw.kernels)
ORDER BY w.rank
