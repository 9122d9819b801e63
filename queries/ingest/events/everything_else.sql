-- title = "Trace events: everything else"
-- doc = """Events that are neither spans nor samples of a counter, with their arguments as JSON; names of processes and
-- threads among them."""
SELECT
    id, start_ns, greatest(coalesce(dur_ns, 0), 0) AS dur_ns, pid, tid,
    cat AS category, ph AS phase, name, nullif(CAST(args AS VARCHAR), 'null') AS args
FROM event
WHERE ph = 'M' OR (start_ns IS NOT NULL AND ph <> 'C' AND NOT (ph IN ('X', 'b') AND dur_ns IS NOT NULL))
