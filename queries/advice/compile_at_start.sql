-- title = "Compilation as long as many steps"
-- doc = """Time that a log says compiling took, beside all steps that it averages over. The bound is that time, once
-- per run."""
-- why = """The framework compiles its code when the program starts; in a short run, and in each of many, that time is
-- part of what is paid."""
-- cost = "A cache of compiled code needs disk space; an optimizer that does less makes slower code."
-- unless = "The run is long: then it pays for itself."
-- per = "run"
-- needs = ["compile_log"]
-- [fix]
-- pytorch = "keep TORCHINDUCTOR_CACHE_DIR and TORCHINDUCTOR_FX_GRAPH_CACHE=1 between runs"
-- any = """keep the cache of compiled code between runs (Theano: base_compiledir), and compile fewer functions;
-- optimizer=fast_compile where a program of Theano is only tried out"""
-- [params]
-- compile_log_pct = { type = "DOUBLE", default = 10, doc = """found above this share of compiling and all steps of the
-- log, in percent""" }
SELECT c.rank,
    format('Compiling took {:.2f} s; all steps that the log averages over {:.2f} s.', sum(c.total_ns) / 1e9,
        (any_value(r.run_ns) - sum(c.total_ns)) / 1e9) AS problem,
    'Before the first step' AS place, sum(c.total_ns) AS saving_ns,
    'high that it was spent; how much of it a cache keeps is not known' AS confidence,
    (SELECT list(format('{}: {:.3f} s', concat_ws(' ', p.network, p.name), p.total_ns / 1e9)
            ORDER BY p.total_ns DESC, p.network, p.name)
        FROM compile_times p WHERE p.rank = c.rank) AS evidence
FROM compile_times c JOIN recordings r USING (rank)
WHERE c.name = 'Total compile'
GROUP BY c.rank
HAVING 100.0 * sum(c.total_ns) > $compile_log_pct * any_value(r.run_ns)
ORDER BY c.rank
