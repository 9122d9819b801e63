-- title = "nsys: NVTX ranges"
-- doc = """Push/pop (59, 70) and start/end ranges (60, 71); the latter belong to a process, not to a thread, but those
-- that TensorFlow and nvtx-plugins start and end around what one thread runs. Steps, phases and modules where the name
-- says so."""
-- into = "ranges"
-- tables = ["NVTX_EVENTS"]
WITH domain AS (
    SELECT pid, domain, any_value(name) AS name FROM nvtx WHERE type = 75 GROUP BY ALL
), named AS (
    SELECT e.id, e.start_ns, e.end_ns - e.start_ns AS dur_ns, e.pid, CASE WHEN e.type IN (59, 70)
            OR e.ends_there AND lower(d.name) IN ('tensorflow-core', 'forward', 'gradient', 'backward')
            THEN e.tid END AS tid,
        coalesce(e.name, '') AS name, d.name AS domain, e.payload
    FROM nvtx e LEFT JOIN domain d ON d.pid IS NOT DISTINCT FROM e.pid AND d.domain = e.domain
    WHERE e.type IN (59, 60, 70, 71) AND e.start_ns IS NOT NULL AND e.end_ns >= e.start_ns
)
SELECT id, start_ns, dur_ns, pid, tid, domain, payload,
    range_kind(name, domain := domain) AS kind, range_name(name, domain := domain) AS name
FROM named
