-- title = "nvprof: NVTX ranges"
-- doc = "Starts joined to ends. A range that starts on one thread and ends on another belongs to no thread."
-- into = "ranges"
-- tables = ["CUPTI_ACTIVITY_KIND_MARKER"]
SELECT
    s.id, s.start_ns, e.start_ns - s.start_ns AS dur_ns, s.pid,
    CASE WHEN s.tid IS NOT DISTINCT FROM e.tid THEN s.tid END AS tid, s.domain,
    range_kind(s.name, domain := s.domain) AS kind, range_name(coalesce(s.name, ''), domain := s.domain) AS name
FROM (SELECT * FROM marker WHERE flags & 2 = 2) s
JOIN (SELECT DISTINCT ON (marker) * FROM marker WHERE flags & 4 = 4 ORDER BY marker, start_ns) e USING (marker)
WHERE e.start_ns >= s.start_ns
