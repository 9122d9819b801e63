-- title = "When the program loads data"
-- doc = "Phases that steps wait for, on one clock."
SELECT CAST(r.rank AS BIGINT) AS rank, r.start_ns - w.moved_ns AS start_ns, r.start_ns + r.dur_ns - w.moved_ns AS end_ns
FROM awaited_data r JOIN critical_window w ON w.rank = r.rank
ORDER BY r.rank, r.start_ns, end_ns
