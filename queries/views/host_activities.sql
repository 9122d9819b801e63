-- title = "host_activities"
-- doc = "On a rank without a device: the time of operators with no operator inside that no primitive covers, as intervals."
WITH host AS (
    SELECT rank FROM raw.ranks
    WHERE rank NOT IN (SELECT rank FROM raw.kernels UNION SELECT rank FROM raw.memcpys)
), parts AS (
    SELECT rank, op_id, start_ns, start_ns + dur_ns AS end_ns FROM raw.primitives WHERE op_id IS NOT NULL
), parents AS (
    SELECT DISTINCT rank, parent_id AS id FROM raw.ops WHERE parent_id IS NOT NULL
), chosen AS (
    SELECT o.id, o.rank, o.start_ns, o.start_ns + o.dur_ns AS end_ns FROM raw.ops o
    WHERE o.rank IN (FROM host)
        AND ((o.rank, o.id) NOT IN (FROM parents) OR o.id IN (SELECT op_id FROM parts))
), bounds AS (
    SELECT id, rank, start_ns AS free_from_ns, start_ns AS free_until_ns, end_ns FROM chosen
    UNION ALL
    SELECT c.id, c.rank, p.end_ns, p.start_ns, c.end_ns FROM chosen c JOIN parts p ON p.op_id = c.id
    UNION ALL
    SELECT c.id, c.rank, o.start_ns + o.dur_ns, o.start_ns, c.end_ns FROM chosen c JOIN raw.ops o ON o.parent_id = c.id
), gaps AS (
    SELECT id, rank,
        max(free_from_ns) OVER (PARTITION BY id ORDER BY free_until_ns, free_from_ns) AS start_ns,
        coalesce(lead(free_until_ns) OVER (PARTITION BY id ORDER BY free_until_ns, free_from_ns), end_ns) AS end_ns
    FROM bounds
)
SELECT g.id AS op_id, g.rank, g.start_ns, g.end_ns, g.end_ns - g.start_ns AS dur_ns
FROM gaps g WHERE g.end_ns > g.start_ns
