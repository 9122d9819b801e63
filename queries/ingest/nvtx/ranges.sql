-- title = "NVTX: ranges"
-- doc = """Push/pop ranges, and start/end ranges joined by their number, which belong to a process, not to a thread.
-- Steps, phases and modules where the name says so; a step only where the trace beside has none."""
-- [params]
-- pid = { type = "BIGINT", doc = "the process" }
-- has_steps = { type = "BOOLEAN", doc = "the trace beside marks steps itself" }
WITH closed AS (
    SELECT id, time_ns AS start_ns, number AS dur_ns, tid, domain, name FROM nvtx WHERE kind = 'R'
    UNION ALL
    SELECT s.id, s.time_ns, e.time_ns - s.time_ns, NULL, s.domain, s.name
    FROM nvtx s
    JOIN (SELECT number, min(time_ns) AS time_ns FROM nvtx WHERE kind = 'E' GROUP BY number) e USING (number)
    WHERE s.kind = 'S' AND e.time_ns >= s.time_ns
)
SELECT id, start_ns, dur_ns, $pid AS pid, tid, domain,
    if($has_steps AND range_kind(name) = 'step', 'nvtx', range_kind(name)) AS kind, range_name(name) AS name
FROM closed
