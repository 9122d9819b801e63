-- title = "Parts of the path"
-- doc = "The pieces with what they are, those of a wait in which data was loaded divided in two."
-- [columns]
-- part = "device, communication, host, launch, data loading, device waits or edge of the step"
-- what = "what it is, within the part"
WITH piece AS (
    SELECT p.*, t.kind, t.class, t.id, t.name, t.category, t.layer, t.op_name, t.is_sync,
        coalesce(t.rank, p.node_rank) AS on_rank, w.from_ns - w.moved_ns AS begins_ns
    FROM critical_piece p LEFT JOIN critical_task t ON t.number = p.task LEFT JOIN critical_window w ON w.rank = t.rank
), told AS (
    SELECT *, CASE WHEN edge IS NULL THEN CASE
            WHEN category IN ('communication', 'data loading') THEN category
            WHEN class = 0 THEN 'device'
            WHEN class = 1 AND category NOT IN ('runtime calls', 'host operators') THEN 'device'
            ELSE 'host' END
        WHEN edge = 2 THEN 'launch' WHEN edge = 7 THEN 'communication' WHEN edge = 8 THEN 'edge of the step'
        WHEN edge IN (0, 6, 3) THEN 'host' WHEN edge IN (1, 4, 5) THEN 'device waits' END AS part,
        CASE WHEN edge IS NULL THEN CASE WHEN is_sync THEN 'return from synchronisation' ELSE category END
        WHEN edge = 2 THEN 'launch' WHEN edge = 7 THEN 'communication'
        WHEN edge = 8 AND task IS NULL THEN 'after the last task'
        WHEN edge = 8 THEN if(begins_ns - from_ns > dur_ns / 2, 'the rank begins its step later',
            'before the first task')
        WHEN edge IN (0, 6) THEN 'outside operators' WHEN edge = 3 THEN 'return from synchronisation'
        WHEN edge IN (1, 4, 5) AND dur_ns >= 20000 THEN 'cause not recorded'
        WHEN edge = 1 THEN 'between kernels' WHEN edge IN (4, 5) THEN 'between streams' END AS what
    FROM piece
)
SELECT position, task, other, on_rank AS rank, edge, kind, id, name, category, layer, op_name, from_ns,
    dur_ns - data_ns AS dur_ns, part, what
FROM told WHERE dur_ns > data_ns
UNION ALL
SELECT position, NULL, NULL, on_rank, edge, NULL, NULL, NULL, NULL, NULL, NULL, from_ns, data_ns, 'data loading',
    'data loading'
FROM told WHERE data_ns > 0
