-- title = "rpd: roctx ranges"
-- doc = "Steps, phases and modules where the text says so."
-- into = "ranges"
-- tables = ["rocpd_api"]
-- [params]
-- pid = { type = "BIGINT", doc = "only ranges of this process" }
SELECT row_id AS id, start_ns, end_ns - start_ns AS dur_ns, pid, tid, 'roctx' AS domain,
    range_kind(args) AS kind, range_name(coalesce(args, '')) AS name
FROM api
WHERE name = 'UserMarker' AND ($pid IS NULL OR pid = $pid) AND start_ns IS NOT NULL AND end_ns IS NOT NULL
