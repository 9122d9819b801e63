-- title = "Cores without a thread"
-- doc = "Fewer threads than cores, all processes of the host together, in a run on a CPU. The bound is the work of a step, spread over all cores: what serial parts and shared memory leave of that a trace does not say."
-- why = "Operators and library primitives share their work among the framework's threads; cores without one stand idle."
-- cost = "Power; other programs on the machine slow down."
-- unless = "The cores are wanted for data loading or other programs, or are two threads of one core, or the operators are too small to be shared."
-- needs = ["cpu_threads"]
-- [fix]
-- pytorch = "OMP_NUM_THREADS or torch.set_num_threads(cores), cores divided by the processes of the host"
-- tensorflow = "tf.config.threading.set_intra_op_parallelism_threads(cores), or leave it at its default of 0"
-- jax = "no taskset and no --xla_cpu_multi_thread_eigen=false in XLA_FLAGS"
-- mxnet = "OMP_NUM_THREADS=cores"
-- onnxruntime = "SessionOptions.intra_op_num_threads left at its default of 0"
-- any = "OMP_NUM_THREADS=cores"
-- [params]
-- idle_cores_step_pct = { type = "DOUBLE", default = 5, doc = "found where more than this share of the step could go, in percent" }
-- [columns]
-- rank = "process of the job"
-- problem = "what was found"
-- place = "host"
-- saving_ns = "at most, per step"
-- confidence = "how sure, and why"
-- evidence = "threads of each process"
WITH host AS (
    SELECT r.host, sum(p.threads) AS threads, max(p.cores) AS cores,
        list(format('rank {}: {} threads', p.rank, p.threads) ORDER BY p.rank) AS processes
    FROM processes p JOIN raw.ranks r USING (rank) WHERE p.threads IS NOT NULL AND p.cores IS NOT NULL GROUP BY r.host
), work AS (
    SELECT rank, sum(alone_ns / per) AS busy_ns, any_value(step_ns) AS step_ns FROM counted GROUP BY rank
)
SELECT w.rank, format('Threads: {}, cores: {}.', h.threads, h.cores) AS problem, 'On ' || h.host AS place,
    w.busy_ns * (1 - h.threads / h.cores) AS saving_ns,
    'medium: threads and cores are recorded; how well the work can be shared is not' AS confidence, h.processes AS evidence
FROM work w JOIN raw.ranks r USING (rank) JOIN host h ON h.host IS NOT DISTINCT FROM r.host
WHERE h.threads < h.cores AND w.rank NOT IN (SELECT rank FROM raw.kernels)
    AND 100.0 * w.busy_ns * (1 - h.threads / h.cores) > $idle_cores_step_pct * w.step_ns
ORDER BY w.rank
