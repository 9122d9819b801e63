-- title = "The slices of an export, with their texts"
-- doc = "Those of the chosen ranks that reach into the chosen step."
SELECT s.*
FROM slices s
JOIN export_window w ON w.rank = s.rank
WHERE w.from_ns IS NULL OR (s.start_ns < w.until_ns AND s.end_ns > w.from_ns)
