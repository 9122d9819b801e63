-- title = "What a rule's change takes away"
-- doc = """The rows of a file of `advice/removes` (the table `removed`) as tasks of the graph, and per rank how much
-- there is of them in the chosen window, and in the mean step."""
-- [columns]
-- number = "the task; NULL for what there is of them on a rank"
-- rank = "process of the job"
-- counted_ns = "in the window; 0 for a rank that is not in the graph"
-- mean_ns = "per step"
SELECT t.number, t.rank, 0 AS counted_ns, 0 AS mean_ns FROM critical_task t WHERE t.id IN (SELECT id FROM removed)
UNION ALL
SELECT NULL, r.rank, coalesce(CAST(sum(r.counted_ns)
        FILTER (r.at_ns >= w.from_ns AND r.at_ns < w.until_ns) AS BIGINT), 0),
    sum(r.counted_ns) / greatest(any_value(c.n_steps), 1)
FROM removed r JOIN scope c ON c.rank = r.rank LEFT JOIN critical_window w ON w.rank = r.rank
WHERE r.counted_ns > 0
GROUP BY r.rank
ORDER BY number, rank
