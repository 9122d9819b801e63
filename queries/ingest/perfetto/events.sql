-- title = "Perfetto: everything else, and the arguments of spans"
-- doc = "Instants, lonely starts and ends; a span with arguments has a row here too, so that nothing is lost."
SELECT id + 1 AS id, start_ns, greatest(coalesce(dur_ns, 0), 0) AS dur_ns, pid, tid, cat AS category, ph AS phase,
    name, args
FROM event WHERE ph NOT IN ('X', 'C', 'lost') OR (ph = 'X' AND args IS NOT NULL)
