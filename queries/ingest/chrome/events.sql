-- title = "Chrome trace: everything else, and the arguments of spans"
-- doc = "Instants, flows, metadata; a span with arguments has a row here too, so that nothing is lost."
SELECT
    CASE WHEN dur_ns IS NULL THEN id ELSE id + 1 END AS id, start_ns,
    greatest(coalesce(dur_ns, 0), 0) AS dur_ns, pid, tid, cat AS category, ph AS phase, name,
    nullif(CAST(args AS VARCHAR), 'null') AS args
FROM event
WHERE ph = 'M' OR (start_ns IS NOT NULL AND ph <> 'C' AND (NOT (ph IN ('X', 'b') AND dur_ns IS NOT NULL)
    OR coalesce(CAST(args AS VARCHAR), 'null') NOT IN ('null', '{}')))
