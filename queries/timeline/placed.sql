-- title = "The slices of an export, each on its track"
-- doc = "No time is negative. Texts are numbers of export_text."
-- [columns]
-- at_ns = "start, nanoseconds from the earliest time, or from the origin where nothing is before it"
-- ts = "the same in microseconds"
-- dur = "duration in microseconds"
SELECT
    s.* EXCLUDE (start_ns, end_ns, thread_number), s.start_ns - t.origin_ns AS at_ns, s.end_ns - s.start_ns AS dur_ns,
    CAST(s.start_ns - t.origin_ns AS DECIMAL(19, 0)) * CAST(0.001 AS DECIMAL(4, 3)) AS ts,
    CAST(s.end_ns - s.start_ns AS DECIMAL(19, 0)) * CAST(0.001 AS DECIMAL(4, 3)) AS dur,
    t.rank, t.process, t.thread, t.nests, t.lane, t.pid, t.tid
FROM export_slice s
LEFT JOIN export_lane l ON l.number = s.number
JOIN export_track t ON t.thread_number = s.thread_number AND t.lane = coalesce(l.lane, 0)
