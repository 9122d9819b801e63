-- title = "Chrome trace: named spans"
-- doc = "What a program calls a span is its own matter, so all are user ranges; the category is kept as the domain."
SELECT id, start_ns, dur_ns, pid, CASE WHEN ph = 'X' THEN tid END AS tid, 'user' AS kind, name, cat AS domain
FROM event WHERE ph IN ('X', 'b') AND start_ns IS NOT NULL AND dur_ns IS NOT NULL
