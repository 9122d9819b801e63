-- title = "nvprof: NVTX ranges"
-- doc = "Starts joined to ends. A range that starts on one thread and ends on another belongs to no thread."
-- into = "ranges"
-- tables = ["CUPTI_ACTIVITY_KIND_MARKER"]
SELECT
    s.id, s.start_ns, e.start_ns - s.start_ns AS dur_ns, s.pid,
    CASE WHEN s.tid IS NOT DISTINCT FROM e.tid THEN s.tid END AS tid, s.domain,
    CASE
        WHEN regexp_matches(s.name, '^(ProfilerStep#|((train(ing)?[ _])?(step|iteration|iter|batch)[ _:#=]{0,2}))\d+$', 'i')
            THEN 'step'
        WHEN starts_with(s.name, 'traceview.phase: ') THEN 'phase'
        WHEN starts_with(s.name, 'traceview.module: ') THEN 'module'
        ELSE 'nvtx'
    END AS kind,
    regexp_replace(coalesce(s.name, ''), '^traceview\.(phase|module): ', '') AS name
FROM (SELECT * FROM marker WHERE flags & 2 = 2) s
JOIN (SELECT DISTINCT ON (marker) * FROM marker WHERE flags & 4 = 4 ORDER BY marker, start_ns) e USING (marker)
WHERE e.start_ns >= s.start_ns
