-- title = "rpd: roctx ranges"
-- doc = "Steps, phases and modules where the text says so."
-- into = "ranges"
-- tables = ["rocpd_api"]
-- [params]
-- pid = { type = "BIGINT", doc = "only ranges of this process" }
SELECT row_id AS id, start_ns, end_ns - start_ns AS dur_ns, pid, tid, 'roctx' AS domain,
    CASE
        WHEN regexp_matches(args, '^(ProfilerStep#|((train(ing)?[ _])?(step|iteration|iter|batch)[ _:#=]{0,2}))\d+$', 'i')
            THEN 'step'
        WHEN starts_with(args, 'traceview.phase: ') THEN 'phase'
        WHEN starts_with(args, 'traceview.module: ') THEN 'module'
        ELSE 'nvtx'
    END AS kind,
    regexp_replace(coalesce(args, ''), '^traceview\.(phase|module): ', '') AS name
FROM api
WHERE name = 'UserMarker' AND ($pid IS NULL OR pid = $pid) AND start_ns IS NOT NULL AND end_ns IS NOT NULL
