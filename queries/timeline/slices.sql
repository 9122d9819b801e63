-- title = "Everything with a start and an end, with the track that shows it"
-- doc = """One row per slice of a timeline: what devices did, operators, ranges and calls of host threads, and what
-- traceview adds: steps, convolution calls, idle gaps, the critical path of one step. Rows of one track may overlap."""
-- [columns]
-- kind = "what the row is: kernel, copy, primitive, op, range, api_call, step, conv_call, idle or critical"
-- id = "id of the row in its own table; not unique over kinds"
-- nests = "whether rows of the track may lie inside each other, as calls of a host thread do"
-- process = "label of the group of tracks"
-- thread = "label of the track"
-- recorded_category = "the category that PyTorch's profiler would give the row, so that tools know it"
SELECT
    'kernel' AS kind, id, rank, false AS nests, 'GPU ' || coalesce(CAST(device AS VARCHAR), '?') AS process,
    'stream ' || coalesce(CAST(stream AS VARCHAR), '?') AS thread, 'kernel' AS recorded_category,
    start_ns, end_ns, coalesce(name, '') AS name, category, algorithm, direction, role, layer, step, op_name
FROM kernels
UNION ALL BY NAME
SELECT
    'copy' AS kind, id, rank, false AS nests,
    coalesce('GPU ' || CAST(device AS VARCHAR), if(direction = 'HtoH', 'host', 'GPU ?')) AS process,
    'stream ' || coalesce(CAST(stream AS VARCHAR), '?') AS thread,
    if(direction = 'memset', 'gpu_memset', 'gpu_memcpy') AS recorded_category,
    start_ns, end_ns, coalesce(name, '') AS name, category, call_algorithm AS algorithm, call_direction AS direction,
    role, layer, step, op_name
FROM memcpys
UNION ALL BY NAME
SELECT
    'primitive' AS kind, id, rank, true AS nests, 'process ' || coalesce(CAST(pid AS VARCHAR), '?') AS process,
    coalesce('thread ' || CAST(tid AS VARCHAR), 'CPU library calls') AS thread, 'primitive' AS recorded_category,
    start_ns, end_ns, concat_ws(' ', kind, impl) AS name, category, algorithm, direction, role, layer, step, op_name
FROM primitives
UNION ALL BY NAME
SELECT
    'op' AS kind, id, rank, true AS nests, 'process ' || coalesce(CAST(pid AS VARCHAR), '?') AS process,
    'thread ' || coalesce(CAST(tid AS VARCHAR), '?') AS thread, 'cpu_op' AS recorded_category,
    start_ns, end_ns, coalesce(name, '') AS name, category, algorithm, direction, role, layer, step
FROM ops
UNION ALL BY NAME
SELECT
    'range' AS kind, id, rank, true AS nests,
    if(kind = 'device', 'GPU ', 'process ') || coalesce(CAST(pid AS VARCHAR), '?') AS process,
    if(kind = 'device', 'annotations of stream ', 'thread ') || coalesce(CAST(tid AS VARCHAR), '?') AS thread,
    CASE kind WHEN 'python' THEN 'python_function' WHEN 'device' THEN 'gpu_user_annotation' ELSE 'user_annotation' END
        AS recorded_category,
    start_ns, end_ns, CASE WHEN kind IN ('phase', 'module') THEN 'traceview.' || kind || ': ' ELSE '' END
        || coalesce(name, '') AS name, step
FROM ranges
UNION ALL BY NAME
SELECT
    'api_call' AS kind, id, rank, true AS nests, 'process ' || coalesce(CAST(pid AS VARCHAR), '?') AS process,
    'thread ' || coalesce(CAST(tid AS VARCHAR), '?') AS thread,
    if(kind = 'driver', 'cuda_driver', 'cuda_runtime') AS recorded_category,
    start_ns, end_ns, coalesce(name, '') AS name, step
FROM api_calls
UNION ALL BY NAME
SELECT
    'step' AS kind, step AS id, rank, false AS nests, 'traceview' AS process, 'steps' AS thread,
    'traceview.step' AS recorded_category, start_ns, end_ns,
    'step ' || CAST(step AS VARCHAR) || if(is_warmup, ' (warm-up)', '') AS name, step
FROM steps
UNION ALL BY NAME
SELECT
    'conv_call' AS kind, op_id AS id, rank, false AS nests, 'traceview' AS process, 'convolution calls' AS thread,
    'traceview.conv_call' AS recorded_category, start_ns, end_ns,
    concat_ws(' ', coalesce(layer, 'convolution'), direction, algorithm) AS name,
    'conv' AS category, algorithm, direction, layer, step, op_name
FROM conv_calls
UNION ALL BY NAME
SELECT
    'idle' AS kind, id, rank, false AS nests, 'traceview' AS process, 'idle ' || device AS thread,
    'traceview.idle' AS recorded_category, from_ns AS start_ns, until_ns AS end_ns, cause AS name, cause AS category
FROM (
    SELECT *, ['data', 'allocation', 'communication', 'graph capture', 'synchronisation', 'between steps', 'launch',
        'unknown'][list_position(parts, list_max(parts))] AS cause
    FROM (
        SELECT *, [data_ns, allocation_ns, communication_ns, capture_ns, synchronisation_ns, between_steps_ns,
            launch_ns, unknown_ns] AS parts
        FROM idle_gaps
    )
)
UNION ALL BY NAME
SELECT
    'critical' AS kind, p.position AS id, p.rank, false AS nests, 'traceview' AS process, 'critical path' AS thread,
    'traceview.critical' AS recorded_category, p.from_ns + w.moved_ns AS start_ns,
    p.from_ns + p.dur_ns + w.moved_ns AS end_ns, if(p.edge IS NULL, coalesce(p.name, p.what), p.what) AS name,
    coalesce(p.category, p.what) AS category, p.layer, f.step, p.op_name
FROM critical_part p JOIN critical_window w ON w.rank = p.rank
CROSS JOIN (SELECT any_value(step) AS step FROM critical_fact) f
