-- title = "Autograd profiler: everything else"
-- doc = "All but operators, rows of a device and ends of flows."
SELECT id, start_ns, greatest(coalesce(dur_ns, 0), 0) AS dur_ns, pid, tid, cat AS category, ph AS phase, name,
    nullif(CAST(args AS VARCHAR), 'null') AS args
FROM event
WHERE ph = 'M' OR (start_ns IS NOT NULL AND NOT (ph IN ('s', 'f') AND flow IS NOT NULL) AND NOT (ph = 'X'
    AND dur_ns IS NOT NULL AND pid IN (SELECT hash(name || ' functions') >> 33
        FROM (VALUES ('CPU'), ('CUDA'), ('NPU'), ('GPU')) p(name))))
