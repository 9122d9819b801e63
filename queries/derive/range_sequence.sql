-- title = "Outermost NVTX ranges of one thread in their order"
-- doc = """What a program marked, as a number of its name without digits: of the thread with most time in ranges.
-- What a framework marked as its operators repeats in loops of all kinds."""
WITH own AS (
    SELECT id, pid, tid, name, start_ns, start_ns + dur_ns AS end_ns FROM stage.ranges
    WHERE kind IN ('nvtx', 'user', 'phase') AND tid IS NOT NULL
        AND id NOT IN (SELECT id - (CAST(1 AS BIGINT) << 38) FROM stage.ops)
), outer_range AS (
    SELECT *, max(end_ns) OVER (PARTITION BY pid, tid ORDER BY start_ns, end_ns DESC, id
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS covered_ns FROM own
), thread AS (
    SELECT pid, tid FROM outer_range WHERE covered_ns IS NULL OR start_ns >= covered_ns
    GROUP BY pid, tid ORDER BY sum(end_ns - start_ns) DESC, pid, tid LIMIT 1
)
SELECT dense_rank() OVER (ORDER BY regexp_replace(name, '\d+', '', 'g')) AS kind, start_ns, end_ns,
    greatest(start_ns - coalesce(covered_ns, start_ns), 0) AS gap_ns
FROM outer_range o JOIN thread t ON t.pid IS NOT DISTINCT FROM o.pid AND t.tid IS NOT DISTINCT FROM o.tid
WHERE covered_ns IS NULL OR start_ns >= covered_ns
ORDER BY start_ns, id
