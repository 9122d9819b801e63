-- title = "What the graph rests on"
-- doc = "Dependencies by kind, and how often the path takes one."
-- cannot = "Nothing that takes time was recorded: no critical path."
-- leave_out = ["position"]
-- [columns]
-- position = "number of the kind"
-- dependency = "what waits for what"
-- n = "in the graph"
-- on_path = "on the path"
-- dur_ns = "time of the path in waiting for them"
WITH word AS (
    SELECT unnest(['after each other on a host thread', 'after each other on a stream', 'launch',
        'host waits for the device', 'event between streams, recorded', 'between streams, inferred',
        'between host threads, inferred',
        'ranks meet in a collective', 'start and end of the step', 'contradicted by the recorded times, left out',
        'begins before the one ahead of it on its stream or thread has ended: counts from there on',
        'sends and receives of several ranks, not matched: what waits for them is not known'])
        AS dependency,
        unnest(range(12)) AS position
), used AS (
    SELECT edge, count(*) AS n, sum(dur_ns) AS dur_ns FROM critical_piece WHERE edge IS NOT NULL GROUP BY edge
)
SELECT w.position, w.dependency, f.n, coalesce(u.n, 0) AS on_path, CAST(coalesce(u.dur_ns, 0) AS BIGINT) AS dur_ns
FROM word w JOIN critical_fact f ON f.kind = w.position LEFT JOIN used u ON u.edge = w.position
WHERE f.n > 0
ORDER BY w.position
