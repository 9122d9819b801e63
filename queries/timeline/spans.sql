-- title = "A batch of slices as spans on numbered threads"
-- doc = "Those whose numbers lie between the variables export_first and export_last."
-- [columns]
-- nests = "1 where slices of the thread may lie inside each other, else 0"
SELECT s.number, s.thread_number AS thread, s.start_ns, s.end_ns, CAST(t.nests AS BIGINT) AS nests
FROM export_slice s
JOIN export_thread t ON t.thread_number = s.thread_number
WHERE s.number BETWEEN getvariable('export_first') AND getvariable('export_last')
ORDER BY s.number
