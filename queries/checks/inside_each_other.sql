-- doc = "Operators that do not lie inside the one that called them, or take longer by themselves than in all."
-- [columns]
-- parent_id = "operator that called it"
SELECT o.rank, o.id, o.name, o.start_ns, o.end_ns, o.parent_id, p.start_ns AS parent_start_ns, p.end_ns AS parent_end_ns
FROM ops o LEFT JOIN ops p ON p.id = o.parent_id AND p.rank = o.rank
WHERE o.self_ns < 0 OR o.self_ns > o.dur_ns
    OR o.parent_id IS NOT NULL AND (p.id IS NULL OR o.start_ns < p.start_ns OR o.end_ns > p.end_ns
        OR o.depth <> p.depth + 1)
ORDER BY o.rank, o.id
