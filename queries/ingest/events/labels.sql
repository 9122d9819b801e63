-- title = "Trace events: names of processes and threads"
-- doc = "Writers put them before the events they name."
SELECT pid, CASE WHEN name = 'thread_name' THEN tid END AS tid, args ->> '$.name' AS label
FROM event WHERE ph = 'M' AND name IN ('process_name', 'thread_name')
