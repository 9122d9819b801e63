-- title = "Ends that arrive apart are taken out of the events of a part"
-- doc = "`halves` and `labels` hold them until the file has been read."
DELETE FROM event WHERE ph IN ('B', 'E', 'b', 'e') AND start_ns IS NOT NULL
