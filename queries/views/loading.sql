-- doc = """Loading of data that steps wait for, one row per rank whose steps have marks of it: of a device the time in
-- which it runs nothing meanwhile, on a CPU all of the loading in the step's own thread. Without steps the whole
-- recording counts as one."""
-- [columns]
-- load_ns = "loading per step; of several threads that load at once each moment counts once"
-- wait_ns = "of it what the step waits for, per step"
-- by_workers = "whether processes of a DataLoader load: then the step waits for them"
-- loads = "workers, prefetching and batch of the DataLoaders, where noted"
-- confidence = "how sure the bound is, and why"
-- evidence = "the steps that load longest"
WITH load AS (
    -- Several threads may load at once: such a moment belongs to the one that began first.
    SELECT id, rank, step, domain, from_ns AS start_ns, end_ns, end_ns - from_ns AS dur_ns,
        greatest(n_steps, 1) AS n_steps, step_ns
    FROM (SELECT r.*, r.start_ns + r.dur_ns AS end_ns, c.n_steps, c.step_ns,
        greatest(r.start_ns, coalesce(max(r.start_ns + r.dur_ns) OVER (
            PARTITION BY r.rank ORDER BY r.start_ns, r.dur_ns DESC, r.id
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), r.start_ns)) AS from_ns
        FROM awaited_data r JOIN scope c USING (rank)
        WHERE NOT c.has_steps OR (r.rank, r.step) IN (SELECT (rank, step) FROM step_times WHERE NOT is_warmup))
    WHERE end_ns > from_ns
), idle AS (
    SELECT rank, sum(saved_ns) AS idle_ns FROM removable WHERE cost = 'data' GROUP BY rank
), waited AS (
    SELECT rank, sum(dur_ns / n_steps) AS load_ns, any_value(step_ns) AS step_ns,
        -- One batch may be the first of the workers, or of the file.
        coalesce(one_event('wait', max(dur_ns), sum(dur_ns), any_value(n_steps)),
            'high: the loading is marked in the trace') AS confidence,
        list(format('{}{:.3f} ms of loading', coalesce('step ' || step || ': ', ''), dur_ns / 1e6)
            ORDER BY dur_ns DESC, step)[:10] AS evidence
    FROM load GROUP BY rank
)
SELECT w.*, if(w.rank IN (SELECT rank FROM raw.kernels), coalesce(i.idle_ns, 0), w.load_ns) AS wait_ns,
    -- Marks of `traceview collect` lie around those of PyTorch.
    coalesce(p.has_workers, w.rank IN (SELECT rank FROM raw.ranges WHERE contains(domain, 'MultiProcessing')))
        AS by_workers, p.loads
FROM waited w LEFT JOIN idle i USING (rank) LEFT JOIN processes p USING (rank)
