-- title = "Calls of optimizers in order of time"
-- doc = """Counts between the end of the call before and the end of this one: operators of a forward pass (those that
-- autograd numbers, on the thread that calls), operators of a backward pass (autograd has them run on another thread or
-- for another one), operators in the call itself, and batches taken from a loader. Marks of a call inside of another,
-- of the script around that of the framework, are one; what a graph says its operators are for is not a call."""
-- [columns]
-- kind = "a number for the optimizer's name"
-- batch_ns = """where more batches than usual came before the first operator of a backward pass, as where a model is
-- validated in between: when the first of the usual ones was loaded, counted from the last; else NULL"""
WITH marked AS (
    SELECT start_ns, start_ns + dur_ns AS end_ns, pid, tid, id, domain,
        max(start_ns + dur_ns) OVER (PARTITION BY pid, tid ORDER BY start_ns, dur_ns DESC, id
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS until_ns
    FROM stage.ranges WHERE kind = 'phase' AND name = 'optimizer' AND domain IS DISTINCT FROM 'graph'
), numbered AS (
    SELECT *, count(nullif(until_ns IS NULL OR end_ns > until_ns, false)) OVER (PARTITION BY pid, tid
        ORDER BY start_ns, end_ns DESC, id ROWS UNBOUNDED PRECEDING) AS call
    FROM marked
), optimizer AS (
    SELECT min(start_ns) AS start_ns, max(end_ns) AS end_ns, pid, tid,
        dense_rank() OVER (ORDER BY min(domain)) AS kind, row_number() OVER (ORDER BY min(start_ns), min(id)) AS n
    FROM numbered GROUP BY pid, tid, call
), happened AS (
    SELECT o.n, count(*) FILTER (w.what = 'forward' AND w.start_ns < o.start_ns) AS n_forward,
        count(*) FILTER (w.what = 'backward') AS n_backward,
        min(w.start_ns) FILTER (w.what = 'backward') AS backward_ns,
        count(*) FILTER (w.start_ns >= o.start_ns) AS n_inside
    FROM (SELECT start_ns, CASE WHEN forward_thread IS NOT NULL THEN 'backward' WHEN sequence >= 0 THEN 'forward' END
                AS what FROM stage.ops) w
    ASOF JOIN optimizer o ON w.start_ns <= o.end_ns
    GROUP BY o.n
), loaded AS (
    SELECT o.n, count(*) AS n_loaded, list(w.start_ns ORDER BY w.start_ns) AS loads
    FROM (SELECT start_ns FROM stage.ranges WHERE kind = 'phase' AND name = 'data') w
    ASOF JOIN optimizer o ON w.start_ns <= o.end_ns
    GROUP BY o.n
), early AS (
    SELECT n, list_filter(l.loads, lambda x: x < h.backward_ns) AS loads
    FROM loaded l JOIN happened h USING (n)
), usual AS (
    SELECT CAST(median(len(loads)) AS BIGINT) AS n_loads FROM early WHERE len(loads) > 0
)
SELECT o.start_ns, o.end_ns, o.pid, o.tid, o.kind, coalesce(h.n_forward, 0) AS n_forward,
    coalesce(h.n_backward, 0) AS n_backward, coalesce(h.n_inside, 0) AS n_inside, coalesce(l.n_loaded, 0) AS n_loaded,
    (SELECT if(len(e.loads) > u.n_loads, e.loads[-u.n_loads], NULL) FROM usual u) AS batch_ns
FROM optimizer o LEFT JOIN happened h USING (n) LEFT JOIN loaded l USING (n) LEFT JOIN early e USING (n)
ORDER BY o.n
