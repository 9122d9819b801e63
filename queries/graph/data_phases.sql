-- title = "When the program loads data"
-- doc = "Outermost phases of that name, on one clock."
SELECT CAST(r.rank AS BIGINT) AS rank, r.start_ns - w.moved_ns AS start_ns, r.start_ns + r.dur_ns - w.moved_ns AS end_ns
FROM raw.ranges r JOIN critical_window w ON w.rank = r.rank
WHERE r.kind = 'phase' AND r.name = 'data' AND r.depth = 0
ORDER BY r.rank, r.start_ns, end_ns
