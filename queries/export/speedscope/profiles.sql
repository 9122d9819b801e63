-- title = "speedscope: profiles"
-- doc = "One per track, with the earliest and the latest time on it."
-- [columns]
-- head = "the beginning of the profile's JSON object, up to its events"
-- place = "1 for the device's stream with most work, on which it opens; without one the first track"
SELECT t.tid, rtrim(CAST(to_json({type: 'evented', name: t.process_label || ' ' || t.thread_label,
    unit: 'nanoseconds', startValue: min(s.at_ns), endValue: max(s.at_ns + s.dur_ns)}) AS VARCHAR), '}') AS head,
    row_number() OVER (ORDER BY NOT starts_with(t.process, 'GPU'),
        if(starts_with(t.process, 'GPU'), -sum(s.dur_ns) FILTER (s.kind IN ('kernel', 'copy')), NULL) NULLS LAST,
        t.tid) AS place
FROM export_track t JOIN export_placed s USING (tid)
GROUP BY t.tid, t.process, t.process_label, t.thread_label ORDER BY t.tid
