-- title = "Allocations with the numbers of their threads"
-- doc = "For looking up what was running on a thread when it allocated or released memory."
SELECT a.id, if(a.allocated_ns IS NULL, NULL, t.thread) AS thread, a.allocated_ns,
    if(a.freed_ns IS NULL, NULL, f.thread) AS freed_thread, a.freed_ns
FROM stage.allocations a
LEFT JOIN thread t ON t.pid IS NOT DISTINCT FROM a.pid AND t.tid = a.tid
LEFT JOIN thread f ON f.pid IS NOT DISTINCT FROM a.pid AND f.tid = a.freed_tid
