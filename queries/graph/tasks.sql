-- title = "What the graph consists of"
-- doc = """Everything that takes time in the chosen window, so that on one lane (a stream of a device, a thread of the
-- host) one thing follows another: kernels and copies; calls of the runtime; what operators spend outside of calls,
-- library primitives and operators inside them; collectives of the host. On one clock."""
-- [columns]
-- number = "by start"
-- kind = "kernel, copy, call, operator, primitive or collective"
-- class = "0 for a device, 1 for the host, 2 for communication by the host"
-- launch_id = "the call that launched it"
-- is_sync = "whether the call waits for the device"
-- sync_stream = "the stream that it waits for, where recorded"
-- queued_ns = "of a call how much later what it launched began"
-- match_id = "the collective across ranks"
-- last_ns = "when its last rank came"
-- category = "what it does; of what a host does that is no work of a device: runtime calls or host operators"
WITH with_device AS (
    SELECT rank FROM raw.kernels UNION SELECT rank FROM raw.memcpys
), launched AS (
    SELECT id, launch_id, start_ns, dur_ns FROM raw.kernels WHERE rank IN (SELECT rank FROM critical_window)
    UNION ALL SELECT id, launch_id, start_ns, dur_ns FROM raw.memcpys WHERE rank IN (SELECT rank FROM critical_window)
), called AS MATERIALIZED (
    -- The bounds of all windows as constants: what lies outside is left before anything is joined.
    SELECT id, rank, pid, tid, name, start_ns, dur_ns, op_id, correlation FROM raw.api_calls
    WHERE start_ns < getvariable('critical_until_ns') AND start_ns + dur_ns > getvariable('critical_from_ns')
        AND rank IN (SELECT rank FROM critical_window)
), queued AS (
    SELECT launch_id, min(start_ns) AS start_ns FROM launched WHERE launch_id IN (SELECT id FROM called)
    GROUP BY launch_id
), caller AS (
    SELECT id, name, layer, phase FROM raw.ops WHERE id IN (SELECT op_id FROM called)
), thread AS (
    SELECT DISTINCT rank, pid, tid FROM raw.ops WHERE rank IN (SELECT rank FROM critical_window)
    UNION
    SELECT a.rank, a.pid, a.tid FROM raw.api_calls a WHERE a.id IN (SELECT launch_id FROM launched)
), waited AS (
    SELECT rank, TRY_CAST(args->>'$.correlation' AS BIGINT) AS correlation,
        any_value(coalesce(nullif(TRY_CAST(args->>'$.stream' AS BIGINT), -1),
            TRY_CAST(args->>'$.wait_on_stream' AS BIGINT))) AS stream
    FROM raw.events WHERE category = 'cuda_sync' AND name LIKE '%Sync%' AND rank IN (SELECT rank FROM critical_window)
    GROUP BY ALL
), op AS MATERIALIZED (
    SELECT o.id, o.rank, o.pid, o.tid, o.name, o.category, o.layer, o.phase, o.start_ns, o.end_ns
    FROM ops o JOIN critical_window w ON w.rank = o.rank AND o.end_ns > w.from_ns AND o.start_ns < w.until_ns
    WHERE o.start_ns < getvariable('critical_until_ns') AND o.end_ns > getvariable('critical_from_ns')
        AND list_contains(getvariable('critical_among'), o.rank)
), bound AS (
    SELECT id, start_ns AS free_from_ns, start_ns AS free_until_ns, end_ns FROM op
    UNION ALL
    SELECT p.id, c.start_ns + c.dur_ns, c.start_ns, p.end_ns FROM op p JOIN raw.ops c ON c.parent_id = p.id
    UNION ALL
    SELECT p.id, c.start_ns + c.dur_ns, c.start_ns, p.end_ns FROM op p JOIN raw.api_calls c ON c.op_id = p.id
    UNION ALL
    SELECT p.id, c.start_ns + c.dur_ns, c.start_ns, p.end_ns FROM op p JOIN raw.primitives c ON c.op_id = p.id
), piece AS (
    SELECT id, max(free_from_ns) OVER (PARTITION BY id ORDER BY free_until_ns, free_from_ns) AS start_ns,
        coalesce(lead(free_until_ns) OVER (PARTITION BY id ORDER BY free_until_ns, free_from_ns), end_ns) AS end_ns
    FROM bound
), every AS (
    SELECT a.kind, 0 AS class, a.id, a.rank, a.device AS pid, a.stream AS tid, a.name, a.category, a.layer, a.op_name,
        a.start_ns, a.end_ns, l.launch_id, false AS is_sync, NULL AS sync_stream
    FROM activities a LEFT JOIN (SELECT id, launch_id FROM launched WHERE start_ns < getvariable('critical_until_ns')
        AND start_ns + dur_ns > getvariable('critical_from_ns')) l ON l.id = a.id
    WHERE a.kind IN ('kernel', 'copy') AND a.start_ns < getvariable('critical_until_ns')
        AND a.end_ns > getvariable('critical_from_ns') AND list_contains(getvariable('critical_among'), a.rank)
    UNION ALL BY NAME
    SELECT 'call' AS kind, 1 AS class, a.id, a.rank, CAST(a.pid AS VARCHAR) AS pid, a.tid, a.name,
        if(o.phase = 'data', 'data loading', 'runtime calls') AS category, o.layer, o.name AS op_name,
        a.start_ns, a.start_ns + a.dur_ns AS end_ns,
        regexp_matches(a.name, '(?i)(stream|device|ctx|context|event|thread)synchronize') AS is_sync,
        s.stream AS sync_stream,
        q.start_ns - a.start_ns - a.dur_ns AS queued_ns
    FROM called a JOIN thread t ON t.rank = a.rank AND t.pid IS NOT DISTINCT FROM a.pid
        AND t.tid IS NOT DISTINCT FROM a.tid
    LEFT JOIN queued q ON q.launch_id = a.id LEFT JOIN caller o ON o.id = a.op_id
    LEFT JOIN waited s ON s.rank = a.rank AND s.correlation = a.correlation
    UNION ALL BY NAME
    SELECT 'operator' AS kind, 1 AS class, o.id, o.rank, CAST(o.pid AS VARCHAR) AS pid, o.tid, o.name,
        CASE WHEN o.phase = 'data' THEN 'data loading' WHEN d.rank IS NOT NULL OR o.category = 'bookkeeping'
            THEN 'host operators' WHEN w.op_id IS NOT NULL THEN 'communication'
            ELSE coalesce(o.category, 'other') END AS category,
        o.layer, o.name AS op_name, p.start_ns, p.end_ns, false AS is_sync
    FROM piece p JOIN op o ON o.id = p.id LEFT JOIN with_device d ON d.rank = o.rank
    LEFT JOIN exchange_waits w ON w.op_id = p.id AND w.start_ns = p.start_ns AND w.until_ns <= p.end_ns
    WHERE p.end_ns > p.start_ns
    UNION ALL BY NAME
    SELECT 'primitive' AS kind, 1 AS class, id, rank, CAST(pid AS VARCHAR) AS pid, tid, kind || ' ' || impl AS name,
        category, layer, op_name, start_ns, end_ns, false AS is_sync FROM primitives
    UNION ALL BY NAME
    SELECT 'collective' AS kind, 2 AS class, id, rank, 'host' AS pid, NULL AS tid, name, 'communication' AS category,
        start_ns, end_ns, false AS is_sync
    FROM exchanges WHERE id IN (SELECT id FROM raw.collectives WHERE kernel_id IS NULL)
), inside AS (
    SELECT e.* REPLACE (greatest(e.start_ns, w.from_ns) - w.moved_ns AS start_ns,
            least(e.end_ns, w.until_ns) - w.moved_ns AS end_ns), w.moved_ns
    FROM every e JOIN critical_window w ON w.rank = e.rank AND e.end_ns > w.from_ns AND e.start_ns < w.until_ns
)
SELECT row_number() OVER (ORDER BY i.start_ns, i.class = 0, i.end_ns, i.kind, i.id) - 1 AS number, i.kind, i.class,
    i.id, i.rank, dense_rank() OVER (ORDER BY i.rank, i.class, i.pid, i.tid,
        -- Communication by the host overlaps with itself.
        if(i.class = 2, i.id, NULL)) AS lane,
    i.pid, i.tid, i.name, i.category, i.layer, i.op_name, i.start_ns, i.end_ns, i.launch_id, i.is_sync, i.sync_stream,
    i.queued_ns,
    m.match_id, m.last_ns + m.moved_ns - i.moved_ns AS last_ns
FROM inside i LEFT JOIN rank_waits m ON m.id = i.id AND m.rank = i.rank AND i.kind IN ('kernel', 'collective')
    AND m.is_complete
ORDER BY number
