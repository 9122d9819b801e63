-- title = "Perfetto: starts and ends"
-- doc = "By track, in order; texts by their numbers."
SELECT e.* EXCLUDE (turn), f.shapes_iid, f.size_bytes
FROM (SELECT *, row_number() OVER () AS turn FROM export_ends) e
LEFT JOIN export_fact f ON f.number = e.number AND e.begins = 1
ORDER BY turn
