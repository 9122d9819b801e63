-- title = "TensorFlow 1: events with the device and the queue they ran on"
-- doc = """A process per queue: `/gpu:0/stream:all Compute` holds every kernel, `/gpu:0/stream:12 Compute` the same
-- ones again, `/gpu:0/memcpy Compute` the copies, `/job:.../cpu:0 Compute` the operators as scheduled. Every worker
-- counts its devices from 0: where several have some, they are numbered in the order of the file."""
WITH queue AS (
    SELECT DISTINCT ON (pid) pid, label, rowid AS place,
        coalesce(TRY_CAST(regexp_extract(label, '(?i)[/:](?:gpu|tpu|device:\w+):(\d+)', 1) AS BIGINT), 0) AS number,
        regexp_extract(label, '^/job:[^/]*(?:/replica:\d+)?/task:\d+') AS task
    FROM label WHERE tid IS NULL ORDER BY pid, rowid
), device AS (
    SELECT task, number, row_number() OVER (ORDER BY min(place)) - 1 AS place
    FROM queue WHERE regexp_matches(label, '/(stream:all|memcpy) Compute$') GROUP BY task, number
)
SELECT e.*, l.label,
    if((SELECT count(DISTINCT task) FROM device) > 1, coalesce(d.place, l.number), coalesce(l.number, 0)) AS device,
    CASE
        WHEN e.ph <> 'X' OR e.dur_ns IS NULL OR e.start_ns IS NULL THEN NULL
        WHEN l.label LIKE '%/stream:all Compute' THEN 'kernels'
        WHEN l.label LIKE '%/memcpy Compute' THEN 'memcpys'
        WHEN l.label LIKE '%/stream:%' THEN 'copies of rows'
        -- Since 1.15 the host's own profiler writes every operator of the CPU once more.
        WHEN l.label = '/host:CPU Compute' AND (SELECT bool_or(label LIKE '%/device:CPU:_ Compute') FROM label)
            THEN 'copies of rows'
        WHEN e.cat = 'Op' THEN 'ops'
        ELSE 'other'
    END AS goes,
    (e.args ->> '$.name') || coalesce(':' || (e.args ->> '$.op'), '') AS op
FROM event e LEFT JOIN queue l ON l.pid = e.pid LEFT JOIN device d ON d.task = l.task AND d.number = l.number
