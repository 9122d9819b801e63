-- title = "The slices of an export, with their texts"
-- doc = "Those of the chosen ranks that reach into the chosen step, on the clock that ranks have in common."
SELECT s.* REPLACE (s.start_ns - w.moved_ns AS start_ns, s.end_ns - w.moved_ns AS end_ns)
FROM slices s
JOIN export_window w ON w.rank = s.rank
WHERE w.from_ns IS NULL OR (s.start_ns < w.until_ns AND s.end_ns > w.from_ns)
