-- title = "Operators run one by one from Python"
-- doc = """TensorFlow's eager runtime is called for many operators in every step: nothing is compiled into a graph, as
-- with `run_eagerly=True` in Keras or a training loop without `tf.function`. A step that is a graph is a handful of
-- calls, which are not counted. The bound is the time of the step between the first of the calls and the last in which
-- the device does nothing, without that within calls of graphs."""
-- why = """Python makes each operator anew in every step: it finds the kernel, allocates the output and keeps what
-- the gradient needs. A graph is made once; its operators are also fused, and run side by side."""
-- cost = "Python in the step runs only while the graph is made; shapes should stay the same."
-- unless = "The step is being debugged, or Python decides in it by the values of tensors."
-- needs = ["steps", "eager_calls"]
-- [fix]
-- keras = "model.compile(...) without run_eagerly=True, and no tf.config.run_functions_eagerly(True)"
-- tensorflow = "@tf.function around the step; model.compile(...) without run_eagerly=True"
-- pytorch = "torch.compile(model)"
-- any = "compile the step into a graph"
-- [params]
-- eager_calls = { type = "DOUBLE", default = 30, doc = "found above this many calls per step" }
-- eager_step_pct = { type = "DOUBLE", default = 5, doc = "found above this share of the step, in percent" }
WITH call AS (
    SELECT r.rank, w.start_ns AS step_ns, w.end_ns AS step_end_ns, r.start_ns, r.end_ns, r.is_graph
    FROM (SELECT *, (lead(name) OVER own <> 'EagerExecute' AND lead(start_ns) OVER own < end_ns) IS TRUE AS is_graph
        FROM ranges WHERE name = 'EagerExecute' OR starts_with(name, 'EagerLocalExecute: __')
        WINDOW own AS (PARTITION BY rank, pid, tid ORDER BY start_ns, end_ns DESC)) r
    ASOF JOIN counted_windows w ON w.rank = r.rank AND r.start_ns >= w.start_ns
    WHERE r.name = 'EagerExecute' AND r.start_ns < w.end_ns
), step AS (
    SELECT rank, step_ns, count(*) FILTER (NOT is_graph) AS n, min(start_ns) AS from_ns,
        least(max(end_ns), any_value(step_end_ns)) AS until_ns
    FROM call GROUP BY rank, step_ns
), span AS (
    SELECT rank, from_ns, until_ns, 1 AS way FROM step
    UNION ALL
    -- Graphs of several threads may overlap.
    SELECT rank, greatest(start_ns, coalesce(max(end_ns) OVER (PARTITION BY rank ORDER BY start_ns, end_ns DESC
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), start_ns)), least(end_ns, step_end_ns), -1
    FROM call WHERE is_graph
), edge AS (
    SELECT s.rank, d.device, unnest([s.from_ns, s.until_ns]) AS at_ns, s.way * unnest([-1, 1]) AS sign
    FROM span s JOIN (SELECT DISTINCT rank, device FROM idle_gaps) d ON d.rank = s.rank WHERE s.until_ns > s.from_ns
), waited AS (
    SELECT e.rank, sum(e.sign * (g.before_ns + least(e.at_ns, g.until_ns) - g.from_ns)) / count(DISTINCT e.device)
        AS idle_ns
    FROM edge e ASOF JOIN idle_stretches g ON g.rank = e.rank AND g.device = e.device AND e.at_ns >= g.from_ns
    GROUP BY e.rank
), found AS (
    SELECT s.rank, sum(s.n) / any_value(c.n_steps) AS n, any_value(w.idle_ns) / any_value(c.n_steps) AS idle_ns,
        any_value(c.step_ns) AS step_ns
    FROM step s JOIN waited w USING (rank) JOIN scope c USING (rank) GROUP BY s.rank
), kinds AS (
    SELECT rank, op_name, sum(n / per) AS n, sum(total_ns / per) AS dur_ns
    FROM totals WHERE is_counted AND op_name IS NOT NULL GROUP BY rank, op_name
)
SELECT f.rank,
    format('{:.0f} operators per step are run one by one from Python; meanwhile the device does nothing for {:.3f} ms.',
        f.n, f.idle_ns / 1e6) AS problem,
    NULL AS place, f.idle_ns AS saving_ns,
    'medium: the calls are recorded; how much of the time between them a graph needs is not, and profiling makes each '
        || 'longer' AS confidence,
    (SELECT list(format('{}: {:.1f} times, {:.3f} ms', k.op_name, k.n, k.dur_ns / 1e6) ORDER BY k.n DESC, k.op_name)[:8]
        FROM kinds k WHERE k.rank = f.rank) AS evidence
FROM found f
WHERE f.n > $eager_calls AND 100.0 * f.idle_ns > $eager_step_pct * f.step_ns
ORDER BY f.rank
