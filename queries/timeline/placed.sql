-- title = "The slices of an export, each on its track"
-- doc = "Times are moved so that none is negative: tools drop what begins before zero."
-- [columns]
-- at_ns = "start, nanoseconds from the earliest time, or from the origin where nothing is before it"
-- ts = "the same in microseconds"
-- pid = "number of the group of tracks"
-- tid = "number of the track"
SELECT
    s.* EXCLUDE (start_ns, end_ns), s.start_ns - o.origin_ns AS at_ns, s.end_ns - s.start_ns AS dur_ns,
    CAST(s.start_ns - o.origin_ns AS DECIMAL(19, 0)) * CAST(0.001 AS DECIMAL(4, 3)) AS ts,
    CAST(s.end_ns - s.start_ns AS DECIMAL(19, 0)) * CAST(0.001 AS DECIMAL(4, 3)) AS dur,
    t.pid, t.tid, t.lane
FROM export_slice s
CROSS JOIN (SELECT least(0, min(start_ns)) AS origin_ns FROM export_slice) o
LEFT JOIN export_lane l USING (number)
JOIN export_track t
    ON t.rank = s.rank AND t.process = s.process AND t.thread = s.thread AND t.lane = coalesce(l.lane, 0)
