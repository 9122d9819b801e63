-- title = "What a rule's change takes away"
-- doc = """The rows of a file of `advice/removes` (the table `removed`) as tasks of the graph, and per rank what the
-- rule counts of them in the chosen window."""
-- [columns]
-- number = "the task; NULL for what the rule counts on a rank"
-- rank = "process of the job"
-- counted_ns = "what the rule counts, in the window"
SELECT t.number, t.rank, 0 AS counted_ns FROM critical_task t WHERE t.id IN (SELECT id FROM removed)
UNION ALL
SELECT NULL, r.rank, CAST(sum(r.counted_ns) AS BIGINT)
FROM removed r JOIN critical_window w ON w.rank = r.rank AND r.at_ns >= w.from_ns AND r.at_ns < w.until_ns
WHERE r.counted_ns > 0
GROUP BY r.rank
ORDER BY number, rank
