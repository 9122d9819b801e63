-- title = "Outermost ranges of one thread in their order"
-- doc = """Marked ranges of the thread with most time in them. `kind` is a number of the name without digits, of a
-- module of its name: Block_0 and Block_1 are two instances. `exact` is one of the whole name. What a framework marked
-- as its operators repeats in loops of all kinds. `is_loop`: the name says that it is called once for each turn of a
-- loop (a batch of a loader, a step, an instance of a module that holds others: a recurrent cell has its own loop);
-- `is_forward` and `is_backward` make one together."""
WITH own AS (
    SELECT id, pid, tid, kind, name, start_ns, start_ns + dur_ns AS end_ns FROM stage.ranges
    WHERE kind IN ('nvtx', 'user', 'phase', 'module') AND tid IS NOT NULL
        AND id NOT IN (SELECT id - (CAST(1 AS BIGINT) << 38) FROM stage.ops)
), outer_range AS (
    SELECT *, max(end_ns) OVER (PARTITION BY pid, tid ORDER BY start_ns, end_ns DESC, id
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS covered_ns,
        lead(start_ns) OVER (PARTITION BY pid, tid ORDER BY start_ns, end_ns DESC, id) < end_ns AS has_inner FROM own
), thread AS (
    SELECT pid, tid FROM outer_range WHERE covered_ns IS NULL OR start_ns >= covered_ns
    GROUP BY pid, tid ORDER BY sum(end_ns - start_ns) DESC, pid, tid LIMIT 1
)
SELECT dense_rank() OVER (ORDER BY if(kind = 'module', name, regexp_replace(name, '\d+', '', 'g')), kind = 'module')
        AS kind,
    dense_rank() OVER (ORDER BY name) AS exact, start_ns, end_ns,
    greatest(start_ns - coalesce(covered_ns, start_ns), 0) AS gap_ns,
    CAST(kind = 'module' AND has_inner OR kind = 'phase' AND name = 'data' OR
        regexp_matches(name, '^(\[[\w.]+\])*([\w.]+[.:])?'
        || '((run|model)_)?((train(ing)?|eval(uation)?|valid(ation)?|test|predict(ion)?|inference)[_ .]?)?'
        || '(step|batch|iteration|iter|inference|DistributedDataParallel\.forward)$', 'i') AS BIGINT) AS is_loop,
    CAST(kind = 'phase' AND name = 'data' AS BIGINT) AS is_data,
    CAST(regexp_matches(name, '(^|[^a-z])(forward|fwd)([^a-z]|$)', 'i') AS BIGINT) AS is_forward,
    CAST(regexp_matches(name, '(^|[^a-z])(backward|bwd)([^a-z]|$)', 'i') AS BIGINT) AS is_backward
FROM outer_range o JOIN thread t ON t.pid IS NOT DISTINCT FROM o.pid AND t.tid IS NOT DISTINCT FROM o.tid
WHERE covered_ns IS NULL OR start_ns >= covered_ns
ORDER BY start_ns, id
