-- title = "Trace events: spans in two events"
-- doc = "B and E nest on a thread, b and e belong together by their id."
SELECT * FROM event WHERE ph IN ('B', 'E', 'b', 'e') AND start_ns IS NOT NULL
