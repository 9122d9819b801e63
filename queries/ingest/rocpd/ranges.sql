-- title = "rocpd: roctx ranges"
-- doc = "Steps, phases and modules where the text says so. Ranges of a process belong to no thread; marks and calls that open no range are events."
-- into = "ranges"
-- tables = ["rocpd_region"]
WITH marked AS (
    SELECT id, start_ns, dur_ns, pid, CASE WHEN starts_with(name, 'roctxProcess') THEN NULL ELSE tid END AS tid,
        coalesce(message, name) AS name
    FROM region WHERE category LIKE 'MARKER%' AND NOT regexp_matches(name, '^roctx(Mark|Prof|Name|Get)') AND start_ns IS NOT NULL AND dur_ns IS NOT NULL
)
SELECT id, start_ns, dur_ns, pid, tid, 'roctx' AS domain,
    CASE
        WHEN regexp_matches(name, '^(ProfilerStep#|((train(ing)?[ _])?(step|iteration|iter|batch)[ _:#=]{0,2}))\d+$', 'i')
            THEN 'step'
        WHEN starts_with(name, 'traceview.phase: ') THEN 'phase'
        WHEN starts_with(name, 'traceview.module: ') THEN 'module'
        ELSE 'nvtx'
    END AS kind,
    regexp_replace(name, '^traceview\.(phase|module): ', '') AS name
FROM marked
