-- title = "Device time by module"
-- doc = """Modules, the outermost at the top, then the operator and what ran for it, with time on devices in the steps
-- that count (without steps: in the whole recording). What ran for no known module stands beside them."""
-- cannot = "No modules within each other are known in this trace."
-- [chart]
-- kind = "icicle"
-- stack = "stack"
-- value = "busy_ns"
-- colour = "category"
-- [columns]
-- stack = "modules, outermost first, the operator, and last the kernel, copy or primitive"
-- category = "what it is that ran"
-- busy_ns = "device time per step"
WITH place AS (
    SELECT rank, path, any_value(ancestors) AS ancestors FROM modules GROUP BY ALL
)
SELECT list_concat(coalesce(list_filter(p.ancestors, lambda name: name <> ''), ['(no module)']),
        if(a.op_name IS NULL OR a.kind = 'op', [], [a.op_name]), [a.name]) AS stack,
    arg_max(a.category, a.dur_ns) AS category, sum(a.dur_ns / (greatest(c.n_steps, 1) * c.n_ranks)) AS busy_ns
FROM activities a
JOIN scope c ON c.rank = a.rank
JOIN counted_windows w ON w.rank = a.rank AND a.start_ns >= w.start_ns AND a.start_ns < w.end_ns
LEFT JOIN place p ON p.rank = a.rank AND p.path = a.layer
WHERE EXISTS (FROM modules WHERE depth > 1)
GROUP BY stack HAVING sum(a.dur_ns) > 0 ORDER BY busy_ns DESC, stack LIMIT 600
