-- title = "MXNet: the library's calls, the program's own marks, and operators as tasks"
-- doc = """Tasks of the collector's domains are steps and phases. Asynchronous spans of the category operator repeat
-- the operators on their devices."""
SELECT id, start_ns, dur_ns, pid, CASE WHEN ph = 'X' THEN tid ELSE coalesce(tid, TRY_CAST(flow AS BIGINT)) END AS tid,
    CASE cat WHEN 'traceview step' THEN 'step' WHEN 'traceview phase' THEN 'phase' ELSE 'user' END AS kind,
    name, cat AS domain
FROM event
WHERE ph IN ('X', 'b') AND NOT (ph = 'X' AND cat = 'operator') AND dur_ns IS NOT NULL AND start_ns IS NOT NULL
