-- doc = """Calls with a model, those that are known without operators that only stand for what is inside them:
-- wrappers; under vmap operators with the sizes of one sample, inside of which stands the one that runs, with those
-- of all; and operators on a tensor subclass (DTensor) with the sizes of the whole, inside of which stands the one that
-- runs, with those of this rank's part."""
WITH called AS NOT MATERIALIZED (
    SELECT c.op_id, k.* FROM (SELECT unnest(ids) AS op_id, number FROM costed.problem WHERE NOT is_primitive) c
    JOIN costed.cost k ON k.number = c.number
), placed AS (
    SELECT o.id AS op_id, c.number, o.rank, o.pid, o.tid, o.start_ns, o.start_ns + o.dur_ns AS end_ns, o.depth,
        coalesce(o.is_backward, false) AS is_backward, c.is_wrapper, c.matrix_flop, c.family, c.bytes, o.parent_id
    FROM (FROM called WHERE is_known) c JOIN raw.ops o ON o.id = c.op_id
), dispatched AS (
    SELECT w.op_id FROM raw.ops s JOIN placed i ON i.parent_id = s.id JOIN placed w ON w.op_id = s.parent_id
    WHERE s.name = 'PythonSubclass' AND i.family = w.family
), next AS (
    SELECT *, op_id IN (FROM dispatched) AS is_dispatched,
        coalesce(is_wrapper AND lead(start_ns) OVER line < end_ns AND lead(depth) OVER line > depth, false)
            AS is_around,
        start_ns <= max(end_ns) OVER (line ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
            OR lead(start_ns) OVER line < greatest(end_ns, start_ns + 1) AS is_nested
    FROM placed WINDOW line AS (PARTITION BY rank, pid, tid ORDER BY start_ns, depth)
), nested AS (
    -- Few are: a window over times costs more than all else.
    SELECT op_id, max(matrix_flop) OVER inside > matrix_flop AND matrix_flop > 0
            OR max(if(family = 'elementwise', bytes, 0)) OVER inside > bytes AND family = 'elementwise'
            OR max(if(is_dispatched, depth, NULL)) OVER inside >= depth
        AS stands_for_inside
    FROM next WHERE is_nested
    WINDOW inside AS (PARTITION BY rank, pid, tid ORDER BY start_ns
        RANGE BETWEEN CURRENT ROW AND greatest(end_ns - start_ns - 1, 0) FOLLOWING)
)
SELECT op_id, number, rank, pid, tid, start_ns, end_ns, depth, is_backward, true AS is_known
FROM next WHERE NOT is_around AND op_id NOT IN (SELECT op_id FROM nested WHERE stands_for_inside)
UNION ALL
SELECT o.id, c.number, o.rank, o.pid, o.tid, o.start_ns, o.start_ns + o.dur_ns, o.depth,
    coalesce(o.is_backward, false), false
FROM (FROM called WHERE NOT is_known) c JOIN raw.ops o ON o.id = c.op_id
