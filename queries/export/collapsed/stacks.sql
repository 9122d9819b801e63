-- title = "Collapsed stacks"
-- doc = """One line per stack, root first: rank and device, operators from outermost to innermost, what ran; and
-- its time on the device in nanoseconds. Stacks deeper than 100 operators lose their outermost ones."""
WITH RECURSIVE spent AS (
    SELECT a.rank, a.device, a.op_id, a.name, a.kind, CAST(sum(a.dur_ns) AS BIGINT) AS spent_ns
    FROM activities a
    JOIN export_window w ON w.rank = a.rank
    WHERE w.from_ns IS NULL OR (a.start_ns < w.until_ns AND a.end_ns > w.from_ns)
    GROUP BY ALL
), frame AS (
    SELECT id, parent_id, regexp_replace(left(coalesce(name, ''), 300), '[;\x00-\x1f\x7f]', ' ', 'g') AS name
    FROM ops
), climb AS (
    SELECT DISTINCT f.id AS op_id, f.parent_id AS above, f.name AS stack, 1 AS n
    FROM frame f SEMI JOIN spent s ON s.op_id = f.id
    UNION ALL
    SELECT c.op_id, f.parent_id, f.name || ';' || c.stack, c.n + 1
    FROM climb c JOIN frame f ON f.id = c.above
    WHERE c.n < 100
), whole AS (
    SELECT op_id, arg_max(stack, n) AS stack FROM climb GROUP BY op_id
), line AS (
    SELECT 'rank ' || CAST(s.rank AS VARCHAR) || ' ' || s.device || ';' || coalesce(w.stack, '(no operator)')
        -- What an operator did itself has its name already.
        || if(s.kind = 'op', '',
            ';' || regexp_replace(left(coalesce(s.name, ''), 1000), '[;\x00-\x1f\x7f]', ' ', 'g')) AS stack, s.spent_ns
    FROM spent s LEFT JOIN whole w ON w.op_id = s.op_id
)
SELECT stack || ' ' || CAST(CAST(sum(spent_ns) AS BIGINT) AS VARCHAR) AS line
FROM line WHERE spent_ns > 0
GROUP BY stack ORDER BY stack
