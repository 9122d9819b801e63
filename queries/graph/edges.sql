-- title = "Start and end of the chosen window on one clock"
-- doc = "The earliest start and the latest end over the ranks."
SELECT min(from_ns - moved_ns) AS start_ns, max(until_ns - moved_ns) AS end_ns FROM critical_window HAVING count(*) > 0
