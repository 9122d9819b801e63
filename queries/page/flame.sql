-- title = "Device time by operator"
-- doc = """Up to four operators around what ran, the outermost at the top, and its time on devices in the steps that
-- count (without steps: in the whole recording). Operators are grey, what ran has the colour of its category. At most
-- the 1,500 stacks with the most time: traceview export --to collapsed writes all, and whole."""
-- cannot = "Nothing ran on a device in this trace."
-- [chart]
-- kind = "icicle"
-- stack = "stack"
-- value = "busy_ns"
-- colour = "category"
-- [columns]
-- stack = "operators, outermost first, and last the kernel, copy or primitive"
-- category = "what it is that ran"
-- busy_ns = "device time per step"
WITH spent AS (
    SELECT a.op_id, a.kind, a.name, a.category, sum(a.dur_ns) / any_value(c.per_rank) AS busy_ns
    FROM activities a
    JOIN (SELECT *, greatest(n_steps, 1) * n_ranks AS per_rank FROM scope) c ON c.rank = a.rank
    JOIN counted_windows w ON w.rank = a.rank AND a.start_ns >= w.start_ns AND a.start_ns < w.end_ns
    GROUP BY ALL
), above AS (
    SELECT s.*, o.name AS op, p.name AS parent, q.name AS grandparent, r.name AS great
    FROM spent s
    LEFT JOIN ops o ON o.id = s.op_id
    LEFT JOIN ops p ON p.id = o.parent_id
    LEFT JOIN ops q ON q.id = p.parent_id
    LEFT JOIN ops r ON r.id = q.parent_id
), line AS (
    SELECT list_filter([great, grandparent, parent, coalesce(op, '(no operator)'), if(kind = 'op', NULL, name)],
        lambda frame: frame IS NOT NULL) AS stack, category, busy_ns
    FROM above
)
SELECT stack, arg_max(category, busy_ns) AS category, sum(busy_ns) AS busy_ns
FROM line GROUP BY stack ORDER BY busy_ns DESC, stack LIMIT 1500
