-- title = "nsys stats CSV: NVTX ranges"
-- doc = """Rows of nvtx_pushpop_trace. A domain stands before a colon, directly: `aten::add`, `forward: conv1` and
-- `step:3` are names. Steps, phases and modules where the name says so."""
WITH parted AS (
    SELECT *, regexp_extract(name, '^([^:]+):([^: ].*)$', ['domain', 'rest']) AS part FROM activity
), named AS (
    SELECT id, start_ns, dur_ns, pid, tid, CASE WHEN has_domain THEN part.domain END AS domain,
        -- Newer versions write the colon also where there is no domain.
        CASE WHEN has_domain THEN part.rest ELSE regexp_replace(name, '^:', '') END AS name
    FROM (SELECT *, part.rest <> '' AND NOT regexp_full_match(part.rest, '\d+') AS has_domain FROM parted)
)
SELECT id, start_ns, dur_ns, pid, tid, domain,
    range_kind(name) AS kind, range_name(name) AS name
FROM named
