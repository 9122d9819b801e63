-- doc = "Ranges that a program or library opened, by name, with the time in which any device of their rank was busy."
-- materialize = true
-- empty_without = ["raw.ranges"]
-- types = """rank INTEGER, kind VARCHAR, domain VARCHAR, name VARCHAR, calls BIGINT, total_ns BIGINT, mean_ns DOUBLE,
-- max_ns BIGINT, busy_ns BIGINT"""
-- [columns]
-- calls = "ranges"
-- total_ns = "sum of their durations"
-- mean_ns = "mean duration"
-- max_ns = "longest"
-- busy_ns = "time in them in which a device of the rank did something; NULL where nothing of any device was recorded"
WITH span AS (
    SELECT id, rank, kind, domain, name, start_ns, start_ns + dur_ns AS end_ns, dur_ns
    FROM raw.ranges WHERE kind IN ('nvtx', 'user', 'library')
), busy_until AS (
    SELECT e.id, e.sign * (p.before_ns + least(e.at_ns, p.end_ns) - p.from_ns) AS busy_ns
    FROM (SELECT id, rank, start_ns AS at_ns, -1 AS sign FROM span UNION ALL SELECT id, rank, end_ns, 1 FROM span) e
    ASOF JOIN stretches p ON e.rank = p.rank AND e.at_ns >= p.from_ns
), busy_in AS (
    SELECT s.id, coalesce(sum(b.busy_ns), 0) AS busy_ns
    FROM span s LEFT JOIN busy_until b USING (id) WHERE s.rank IN (SELECT rank FROM stretches) GROUP BY s.id
)
SELECT rank, kind, domain, name, count(*) AS calls, CAST(sum(dur_ns) AS BIGINT) AS total_ns, avg(dur_ns) AS mean_ns,
    max(dur_ns) AS max_ns, CAST(sum(b.busy_ns) AS BIGINT) AS busy_ns
FROM span LEFT JOIN busy_in b USING (id)
GROUP BY rank, kind, domain, name
