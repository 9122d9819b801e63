-- title = "Steps of another kind than the program's"
-- doc = """A program may name more than its steps like steps: the batches that a loader prepares, the parts of a batch,
-- its own marks inside the profiler's. Ranges of one name on one thread are a kind. The profiler's own kind counts,
-- else of those that come more than once the one that holds most of what the host did, then the longest; what overlaps
-- it is of another kind. What does not (an evaluation after the training) stays a step."""
WITH step AS MATERIALIZED (
    SELECT id, pid, tid, start_ns, start_ns + dur_ns AS end_ns, dur_ns,
        starts_with(name, 'ProfilerStep#') AS is_profilers,
        dense_rank() OVER (ORDER BY regexp_replace(name, '\d+$', ''), domain, pid, tid) AS family
    FROM stage.ranges WHERE kind = 'step'
), family AS (
    SELECT family, any_value(pid) AS pid, any_value(tid) AS tid, any_value(is_profilers) AS is_profilers, count(*) AS n,
        sum(dur_ns) AS total_ns
    FROM step GROUP BY family
), largest AS (
    SELECT * FROM family ORDER BY is_profilers DESC, n > 1 DESC, total_ns DESC, family LIMIT 8
), work AS (
    SELECT f.family, w.start_ns
    FROM (SELECT pid, tid, start_ns FROM stage.api_calls UNION ALL SELECT pid, tid, start_ns FROM stage.ops) w
    JOIN largest f ON w.pid IS NOT DISTINCT FROM f.pid AND (f.tid IS NULL OR w.tid IS NOT DISTINCT FROM f.tid)
), held AS (
    SELECT w.family, count(*) AS n_held
    FROM work w ASOF JOIN step s ON s.family = w.family AND w.start_ns >= s.start_ns
    WHERE w.start_ns < s.end_ns GROUP BY w.family
), chosen AS (
    SELECT family FROM largest LEFT JOIN held USING (family)
    ORDER BY is_profilers DESC, n > 1 DESC, coalesce(n_held, 0) DESC, total_ns DESC, family LIMIT 1
), covered AS (
    SELECT from_ns, end_ns, coalesce(sum(end_ns - from_ns) OVER (
        ORDER BY from_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before_ns
    FROM (
        SELECT end_ns, greatest(start_ns, coalesce(max(end_ns) OVER (ORDER BY start_ns, end_ns DESC
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), start_ns)) AS from_ns
        FROM step SEMI JOIN chosen USING (family)
    )
    WHERE end_ns > from_ns
), edge AS (
    SELECT family, start_ns AS at_ns, -1 AS way FROM step UNION ALL SELECT family, end_ns, 1 FROM step
), overlapping AS (
    SELECT e.family
    FROM edge e ASOF JOIN covered c ON e.at_ns >= c.from_ns
    JOIN family f ON f.family = e.family
    WHERE e.family NOT IN (SELECT family FROM chosen)
    GROUP BY e.family
    -- Ends that are rounded may touch.
    HAVING sum(e.way * (c.before_ns + least(e.at_ns, c.end_ns) - c.from_ns)) > 0.01 * any_value(f.total_ns)
)
SELECT id FROM step SEMI JOIN overlapping USING (family)
