-- title = "Device time by operator"
-- doc = """The operators around what ran (the innermost 24), the outermost at the top, and its time on devices in the
-- steps that count (without steps: in the whole recording). Operators are grey, what ran has the colour of its
-- category. At most the 1,500 stacks with the most time: traceview export --to collapsed writes all."""
-- cannot = "No work of a device was found in this trace."
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
    SELECT a.rank, a.kind, a.name, a.category, a.op_id IS NULL AS is_outside, o.stack,
        sum(a.dur_ns) / any_value(c.per_rank) AS busy_ns
    FROM activities a
    JOIN (SELECT *, greatest(n_steps, 1) * n_ranks AS per_rank FROM scope) c ON c.rank = a.rank
    JOIN counted_windows w ON w.rank = a.rank AND a.start_ns >= w.start_ns AND a.start_ns < w.end_ns
    LEFT JOIN op_stacks o ON o.op_id = a.op_id
    GROUP BY ALL
), line AS (
    SELECT list_concat(coalesce(k.frames[-24:],
            [if(s.is_outside, '(no operator)', '(stack not known)')]),
        if(s.kind = 'op', [], [s.name])) AS stack, s.category, s.busy_ns
    FROM spent s LEFT JOIN stacks k ON k.stack = s.stack
)
SELECT list_filter(stack, lambda frame: frame IS NOT NULL) AS stack, arg_max(category, busy_ns) AS category,
    sum(busy_ns) AS busy_ns
FROM line GROUP BY ALL ORDER BY busy_ns DESC, stack LIMIT 1500
