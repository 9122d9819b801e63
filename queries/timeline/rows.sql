-- title = "The slices of an export as numbers, in their order"
-- doc = """By track, start, longest first. Numbers instead of texts, and a sort that is stored: both so that it needs
-- no more memory than it is given, whatever the size of the trace."""
-- [columns]
-- thread_number = "number in export_thread"
-- name_iid = "numbers in export_text, as all that end in iid"
SELECT
    t.thread_number, c.id, c.start_ns, c.end_ns, c.step,
    CAST(c.kind AS ENUM ('api_call', 'conv_call', 'copy', 'critical', 'idle', 'kernel', 'op', 'primitive',
        'range', 'step'))
        AS kind,
    n.iid AS name_iid, r.iid AS recorded_iid, g.iid AS category_iid, a.iid AS algorithm_iid, d.iid AS direction_iid,
    o.iid AS role_iid, y.iid AS layer_iid, p.iid AS op_iid
FROM export_chosen c
JOIN export_thread t ON t.rank = c.rank AND t.process = c.process AND t.thread = c.thread
LEFT JOIN export_text n ON n.text = c.name
LEFT JOIN export_text r ON r.text = c.recorded_category
LEFT JOIN export_text g ON g.text = c.category
LEFT JOIN export_text a ON a.text = c.algorithm
LEFT JOIN export_text d ON d.text = c.direction
LEFT JOIN export_text o ON o.text = c.role
LEFT JOIN export_text y ON y.text = c.layer
LEFT JOIN export_text p ON p.text = c.op_name
ORDER BY t.thread_number, c.start_ns, c.end_ns DESC, kind, c.id
