-- title = "rocprofv3: roctx ranges"
-- doc = """Ranges of the program; without a recorded text the name of the call stands in. Those of a process belong to
-- no thread. Steps, phases and modules where the text says so. One that was open at the end has 0 for its end."""
WITH marked AS (
    SELECT
        r.id, r.start_timestamp AS start_ns, r.end_timestamp - r.start_timestamp AS dur_ns,
        CASE WHEN starts_with(o.name, 'roctxProcess') THEN NULL ELSE r.thread_id END AS tid,
            coalesce(m.text, o.name) AS name
    FROM record r
    LEFT JOIN operation o ON o.kind_number = TRY_CAST(r.kind AS BIGINT) AND o.operation = r.operation
    LEFT JOIN marker m ON m.correlation = r.correlation_id.internal
    WHERE buffer = 'marker_api' AND r.start_timestamp IS NOT NULL AND r.end_timestamp <> 0
        AND coalesce(contains(o.name, 'Range'), true)
)
SELECT id, start_ns, dur_ns, CAST($pid AS BIGINT) AS pid, tid, 'roctx' AS domain,
    range_kind(name) AS kind, range_name(name) AS name
FROM marked
