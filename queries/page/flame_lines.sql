-- title = "Device time by line"
-- doc = """Files, functions and lines of the user's own code, then the operator and what ran for it, with time on
-- devices in the steps that count (without steps: in the whole recording). What is of the backward pass has the line of
-- its forward operator; a line is where a function begins, unless `collect --stacks` noted each line."""
-- cannot = "No lines of the user's own code are recorded in this trace."
-- [chart]
-- kind = "icicle"
-- stack = "stack"
-- value = "busy_ns"
-- colour = "category"
-- [columns]
-- stack = "file, function, line, the operator, and last the kernel, copy or primitive"
-- category = "what it is that ran"
-- busy_ns = "device time per step"
SELECT list_concat(if(l.file IS NULL, ['(no line)'],
            [l.file, coalesce(l.function, '?'), coalesce(format('line {}', l.line), 'generated code')]),
        if(a.op_name IS NULL OR a.kind = 'op', [], [a.op_name]), [a.name]) AS stack,
    arg_max(a.category, a.dur_ns) AS category, sum(a.dur_ns / (greatest(c.n_steps, 1) * c.n_ranks)) AS busy_ns
FROM activities a
JOIN scope c ON c.rank = a.rank
JOIN counted_windows w ON w.rank = a.rank AND a.start_ns >= w.start_ns AND a.start_ns < w.end_ns
LEFT JOIN source_lines l ON l.op_id = a.op_id
WHERE EXISTS (FROM source_lines WHERE op_id IS NOT NULL)
GROUP BY stack HAVING sum(a.dur_ns) > 0 ORDER BY busy_ns DESC, stack LIMIT 600
