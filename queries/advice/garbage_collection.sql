-- title = "Python's garbage collector in the steps"
-- doc = """Pauses of 0.1 ms and more in which Python's garbage collector looked for objects that refer to each other,
-- by itself or because the program called gc.collect(). The bound is their time in the steps that count; on a device
-- only what it idles meanwhile."""
-- why = """A collection looks at every object that lives, and all threads of Python stand still meanwhile; of a model,
-- its optimizer and a data set of many small objects nothing becomes garbage."""
-- cost = "Memory, until the next collection; on several ranks collect in the same step, or one makes the others wait."
-- unless = "Objects that refer to each other hold much memory, and only the collector frees it."
-- needs = ["garbage_notes"]
-- [fix]
-- pytorch = """no gc.collect() in the loop; gc.collect() and gc.freeze() once before it; gc.disable() and a collection
-- every n steps; data sets as arrays instead of lists of objects"""
-- any = """no gc.collect() in the loop; gc.collect() and gc.freeze() once before it; gc.disable() and a collection
-- every n steps"""
-- [params]
-- garbage_step_pct = { type = "DOUBLE", default = 1, doc = "found above this share of the step, in percent" }
WITH noted AS (
    SELECT *, start_ns + dur_ns AS end_ns, max(end_ns) OVER (PARTITION BY rank ORDER BY start_ns, dur_ns DESC
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS until_ns
    FROM garbage_pauses
), pause AS (
    SELECT p.rank, p.generation, p.dur_ns, p.start_ns AS began_ns, least(p.end_ns, w.end_ns) AS end_ns,
        greatest(p.start_ns, w.start_ns, coalesce(p.until_ns, w.start_ns)) AS start_ns
    FROM noted p JOIN counted_windows w ON w.rank = p.rank AND w.start_ns < p.end_ns AND w.end_ns > p.start_ns
    WHERE coalesce(p.until_ns < least(p.end_ns, w.end_ns), true)
), edge AS (
    SELECT p.rank, p.start_ns, d.device, unnest([p.start_ns, p.end_ns]) AS at_ns, unnest([-1, 1]) AS sign
    FROM pause p JOIN (SELECT DISTINCT rank, device FROM idle_gaps) d ON d.rank = p.rank
), waited AS (
    SELECT e.rank, e.start_ns, sum(e.sign * (g.before_ns + least(e.at_ns, g.until_ns) - g.from_ns)) AS idle_ns
    FROM edge e ASOF JOIN idle_stretches g ON g.rank = e.rank AND g.device = e.device AND e.at_ns >= g.from_ns
    GROUP BY e.rank, e.start_ns
), own AS (
    SELECT p.*, s.n_steps, s.step_ns,
        if(p.rank IN (SELECT rank FROM raw.kernels), coalesce(w.idle_ns, 0) / greatest(s.n_devices, 1),
            p.end_ns - p.start_ns) / greatest(s.n_steps, 1) AS lost_ns
    FROM pause p JOIN scope s ON s.rank = p.rank LEFT JOIN waited w ON w.rank = p.rank AND w.start_ns = p.start_ns
)
SELECT rank,
    format('Python''s garbage collector runs for {:.3f} ms.', sum(end_ns - start_ns) / any_value(n_steps) / 1e6)
        AS problem,
    format('The longest pause takes {:.3f} ms', max(dur_ns) / 1e6) AS place,
    sum(lost_ns) AS saving_ns,
    if(count(DISTINCT began_ns) > 1, 'high: the pauses are measured',
        'low: it ran once, and nothing tells how often it comes') AS confidence,
    [format('{} pauses of 0.1 ms or more in {} steps, {} of them through all objects (generation 2)',
        count(DISTINCT began_ns), any_value(n_steps), count(DISTINCT began_ns) FILTER (generation = 2))] AS evidence
FROM own GROUP BY rank
HAVING any_value(n_steps) > 0 AND 100.0 * sum(lost_ns) > $garbage_step_pct * any_value(step_ns)
ORDER BY rank
