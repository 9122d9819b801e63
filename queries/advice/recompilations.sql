-- title = "Code compiled again within the steps"
-- doc = """Functions that torch.compile compiled again within the recorded steps, because a guard of what it had
-- compiled before failed; with the guard, as `traceview collect` noted it. The bound is the time of these compilations
-- once per run. Found where they are most of what compiles there."""
-- why = """A call that the compiled code does not fit costs a compilation. By default the first change of a size costs
-- one, and its code takes any size; what stays specialised costs one for each new value, and after some
-- (recompile_limit, 8) calls that none of the compiled code fits run operator by operator."""
-- cost = "Code for sizes of any value may be slower than code for one."
-- unless = "Few values occur, each soon in the run: then measure after warm-up steps."
-- per = "run"
-- needs = ["recompilations", "steps"]
-- [fix]
-- pytorch = """torch.compile(dynamic=True) or torch._dynamo.mark_dynamic(tensor, 0) where a size changes, or pad to few
-- sizes; a tensor in place of a Python number that changes from step to step (a counter, a rate); for integers of a
-- module torch._dynamo.config.allow_unspec_int_on_nn_module = True"""
-- any = "sizes and numbers that stay the same from step to step, or are marked as dynamic"
-- [params]
-- again_run_pct = { type = "DOUBLE", default = 2, doc = "found above this share of the recording, in percent" }
WITH again AS (
    SELECT rank, format('{}:{} ({})', file, line, function) AS place, coalesce(reason, 'reason not recorded') AS reason,
        compile_ns FROM compiled_graphs WHERE attempt > 0 AND is_in_steps AND compile_ns > 0
), compiled AS (
    SELECT rank, sum(greatest(end_ns - greatest(start_ns, coalesce(until_ns, start_ns)), 0)) AS ns FROM (
        SELECT rank, start_ns, end_ns, max(end_ns) OVER (PARTITION BY rank ORDER BY start_ns, end_ns DESC, id
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS until_ns
        FROM compilations WHERE (rank, step) IN (SELECT (rank, step) FROM counted_windows)
    ) GROUP BY rank
), kinds AS (
    SELECT rank, place, arg_max(reason, compile_ns) AS reason, count(*) AS n, sum(compile_ns) AS compile_ns
    FROM again GROUP BY rank, place
)
SELECT k.rank, format('Compiled again within the recorded steps: {}{}, for {:.3f} ms in all.',
        array_to_string(list(format('{} ({} times)', k.place, k.n) ORDER BY k.compile_ns DESC, k.place)[:2], ', '),
        if(count(*) > 2, ' and others', ''), sum(k.compile_ns) / 1e6) AS problem,
    'Guard that failed: ' || arg_max(k.reason, k.compile_ns)[:200] AS place, sum(k.compile_ns) AS saving_ns,
    'high: torch.compile says when it compiled, and why' AS confidence,
    list(format('{}: {} times, {:.3f} ms; {}', k.place, k.n, k.compile_ns / 1e6, k.reason[:300])
        ORDER BY k.compile_ns DESC, k.place)[:8] AS evidence
FROM kinds k JOIN recordings r ON r.rank = k.rank LEFT JOIN compiled c ON c.rank = k.rank
GROUP BY k.rank
HAVING 100.0 * sum(k.compile_ns) > $again_run_pct * any_value(r.run_ns)
    AND sum(k.compile_ns) > 0.5 * coalesce(any_value(c.ns), 0)
ORDER BY k.rank
