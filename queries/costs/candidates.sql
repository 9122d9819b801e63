-- doc = """Calls with a model, those that are known without operators that only stand for what is inside them."""
WITH called AS (
    SELECT unnest(ids) AS op_id, number FROM costed.problem
), placed AS (
    SELECT o.id AS op_id, c.number, o.rank, o.pid, o.tid, o.start_ns, o.start_ns + o.dur_ns AS end_ns, o.depth,
        k.is_known, k.is_wrapper
    FROM called c JOIN raw.ops o ON o.id = c.op_id JOIN costed.cost k ON k.number = c.number
), next AS (
    SELECT *, lead(start_ns) OVER line < end_ns AND lead(depth) OVER line > depth AS has_inside
    FROM placed WHERE is_known
    WINDOW line AS (PARTITION BY rank, pid, tid ORDER BY start_ns, depth)
)
SELECT * EXCLUDE (is_wrapper, has_inside) FROM next WHERE NOT (is_wrapper AND coalesce(has_inside, false))
UNION ALL BY NAME
SELECT * EXCLUDE (is_wrapper) FROM placed WHERE NOT is_known
