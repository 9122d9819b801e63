-- title = "rocpd: roctx ranges"
-- doc = """Steps, phases and modules where the text says so. Ranges of a process belong to no thread; marks and calls
-- that open no range are events."""
-- into = "ranges"
-- tables = ["rocpd_region"]
WITH marked AS (
    SELECT id, start_ns, dur_ns, pid, CASE WHEN starts_with(name, 'roctxProcess') THEN NULL ELSE tid END AS tid,
        coalesce(message, name) AS name
    FROM region WHERE category LIKE 'MARKER%' AND NOT regexp_matches(name, '^roctx(Mark|Prof|Name|Get)')
        AND start_ns IS NOT NULL AND dur_ns IS NOT NULL
)
SELECT id, start_ns, dur_ns, pid, tid, 'roctx' AS domain,
    range_kind(name) AS kind, range_name(name) AS name
FROM marked
