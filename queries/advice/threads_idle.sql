-- title = "Fewer threads than cores"
-- doc = """Fewer threads than cores, all processes of the host together, in a run on a CPU. The bound assumes linear
-- scaling: with one thread per core, shared by the processes of the host, everything that operators and primitives do
-- in a step gets faster by the factor by which the threads grow. Serial parts and shared memory bandwidth make the real
-- gain smaller. More cores also bring more cache, and a step that then fits into it may gain more: no trace of fewer
-- threads can tell. More threads save none of the time for which operators wait. Where it is recorded how long the
-- cores were busy, a step gets no shorter than the processor time of the run takes on what others leave of them. Where
-- the machine was busy with something else (view `contention`), cores without a thread of this run were not idle, and
-- the rule cannot tell."""
-- why = """Operators and library primitives share their work among the framework's threads; a core without one does
-- none of it."""
-- cost = "Power; other programs on the machine slow down."
-- unless = """The cores are needed for data loading or other programs, or are hyperthreads of one core, or the
-- operators are too small to be parallelised."""
-- needs = ["cpu_threads", "quiet_machine"]
-- [fix]
-- pytorch = "OMP_NUM_THREADS or torch.set_num_threads(cores), cores divided by the processes of the host"
-- tensorflow = "tf.config.threading.set_intra_op_parallelism_threads(cores), or leave it at its default of 0"
-- jax = "no taskset and no --xla_cpu_multi_thread_eigen=false in XLA_FLAGS"
-- mxnet = "OMP_NUM_THREADS=cores"
-- onnxruntime = "SessionOptions.intra_op_num_threads left at its default of 0"
-- any = "OMP_NUM_THREADS=cores"
-- [params]
-- idle_cores_step_pct = { type = "DOUBLE", default = 5, doc = """found where more than this share of the step could go,
-- in percent""" }
WITH host AS (
    SELECT r.host, sum(p.threads) AS threads, max(p.cores) AS cores, ceil(max(p.cores) / count(*)) AS each,
        list(format('rank {}: {} threads{}', p.rank, p.threads,
            coalesce(format(', {:.2f} cores busy on average', (p.user_ns + p.system_ns) / nullif(p.recorded_ns, 0)),
                '')) ORDER BY p.rank) AS processes
    FROM processes p JOIN raw.ranks r USING (rank) WHERE p.threads IS NOT NULL AND p.cores IS NOT NULL GROUP BY r.host
), work AS (
    SELECT rank, sum(mean_ns / per) AS busy_ns, any_value(step_ns) AS step_ns FROM counted GROUP BY rank
), watched AS (
    -- Others go on as before in a shorter step, the run has the same to do.
    SELECT rank, greatest(had_ns - busy_ns - coalesce(throttled_ns, 0), 0) AS free_ns, had_ns,
        had_ns - greatest(busy_ns - own_ns, 0) - coalesce(throttled_ns, 0) AS left_ns
    FROM (SELECT *, host_cores * host_ns AS had_ns FROM processes)
    WHERE had_ns > 0 AND busy_ns IS NOT NULL AND own_ns IS NOT NULL
), scaled AS (
    SELECT w.*, h.*, p.threads / greatest(h.each, p.threads) AS part, c.is_contended IS NULL AS is_unwatched,
        least(w.busy_ns, c.processor_ns / greatest(s.n_steps, 1)) AS work_ns,
        100.0 * f.free_ns / f.had_ns AS free_pct, w.step_ns * (f.free_ns / greatest(f.left_ns, f.free_ns, 1)) AS most_ns
    FROM work w JOIN raw.ranks r USING (rank) JOIN host h ON h.host IS NOT DISTINCT FROM r.host
    JOIN processes p ON p.rank = w.rank JOIN scope s ON s.rank = w.rank
    LEFT JOIN contention c ON c.rank = w.rank LEFT JOIN watched f ON f.rank = w.rank
    WHERE c.is_contended IS NOT TRUE AND h.threads < h.cores AND p.threads > 0
        AND w.rank NOT IN (SELECT rank FROM raw.kernels)
)
SELECT rank, format('Threads: {}, cores: {}. Operators take {:.3f} ms of a step, {:.3f} ms with {} threads in this '
    || 'process if that scales linearly.',
        threads, cores, busy_ns / 1e6, (busy_ns - least(work_ns * (1 - part), most_ns)) / 1e6, CAST(each AS BIGINT))
        AS problem, 'On ' || host AS place, least(work_ns * (1 - part), most_ns) AS saving_ns,
    CASE WHEN rank IN (SELECT rank FROM compilations WHERE step IS NOT NULL)
            THEN 'low: code was compiled within the steps, which is counted as work of operators; '
        WHEN most_ns IS NOT NULL THEN 'medium: threads, cores and how busy these were are recorded; '
        WHEN is_unwatched THEN 'low: whether the machine was busy with something else is not recorded; '
        ELSE 'medium: threads and cores are recorded; whether other programs used the other cores is not; ' END
        || 'that the work scales linearly is assumed' AS confidence,
    processes || list_filter([format('{:.1f} % of the cores'' time was free: enough for {:.3f} ms less per step',
        free_pct, most_ns / 1e6)], lambda x: x IS NOT NULL) AS evidence
FROM scaled
WHERE 100.0 * least(work_ns * (1 - part), most_ns) > $idle_cores_step_pct * step_ns
ORDER BY rank
