-- title = "Perfetto: starts and ends"
-- doc = "By track, in order; texts by their numbers."
FROM export_ends
