-- title = "Chrome trace: named spans"
-- doc = "All are user ranges, as a program names its spans as it likes; the category is kept as the domain."
SELECT id, start_ns, dur_ns, pid, CASE WHEN ph = 'X' THEN tid END AS tid, 'user' AS kind, name, cat AS domain
FROM event WHERE ph IN ('X', 'b') AND start_ns IS NOT NULL AND dur_ns IS NOT NULL
