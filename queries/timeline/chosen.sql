-- title = "The slices of an export, numbered"
-- doc = "Those of the chosen ranks that reach into the chosen step."
-- [columns]
-- number = "by rank, track, start, longest first"
SELECT
    row_number() OVER (ORDER BY s.rank, s.process, s.thread, s.start_ns, s.end_ns DESC, s.kind, s.id) AS number, s.*
FROM slices s
JOIN export_window w ON w.rank = s.rank
WHERE w.from_ns IS NULL OR (s.start_ns < w.until_ns AND s.end_ns > w.from_ns)
