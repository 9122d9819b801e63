-- title = "Collapsed stacks"
-- doc = """One line per stack, root first: rank and device, operators from outermost to innermost, what ran; and
-- its time on the device in nanoseconds. Stacks deeper than 100 operators lose their outermost ones,
-- and of those more than 300 deep the stack is not known."""
WITH spent AS (
    SELECT a.rank, a.device, a.name, a.kind, a.op_id IS NULL AS is_outside, o.stack,
        CAST(sum(a.dur_ns) AS BIGINT) AS spent_ns
    FROM activities a
    JOIN export_window w ON w.rank = a.rank
    LEFT JOIN op_stacks o ON o.op_id = a.op_id
    WHERE w.from_ns IS NULL OR (a.start_ns < w.until_ns AND a.end_ns > w.from_ns)
    GROUP BY ALL
), line AS (
    SELECT list_concat(['rank ' || CAST(s.rank AS VARCHAR) || ' ' || s.device],
        coalesce(list_transform(k.frames, lambda frame: left(frame, 300)),
            [if(s.is_outside, '(no operator)', '(stack not known)')]),
        -- What an operator did itself has its name already.
        if(s.kind = 'op', [], [left(coalesce(s.name, ''), 1000)])) AS frames, s.spent_ns
    FROM spent s LEFT JOIN stacks k ON k.stack = s.stack
), clean AS (
    SELECT array_to_string(list_transform(frames,
        lambda frame: replace(frame, ';', ' ')), ';') AS stack, spent_ns
    FROM line WHERE spent_ns > 0
)
SELECT stack || ' ' || CAST(CAST(sum(spent_ns) AS BIGINT) AS VARCHAR) AS line
FROM clean GROUP BY stack ORDER BY stack
