-- title = "Perfetto: events with both ends, on their process and thread"
-- doc = """A start belongs to the next end of its depth on its track. Tracks without a thread are numbered by place.
-- `goes_to` is the table of what has both ends, by the categories of PyTorch's profiler and of rocprofv3. What lost its
-- name goes to none, with its end."""
WITH stepped AS (
    SELECT *, sum(CASE kind WHEN 1 THEN 1 WHEN 2 THEN -1 ELSE 0 END) OVER along AS depth
    FROM half WHERE at_ns IS NOT NULL
    WINDOW along AS (PARTITION BY track ORDER BY at_ns, "row" ROWS UNBOUNDED PRECEDING)
), paired AS (
    SELECT *, CASE WHEN kind = 1 AND lead(kind) OVER level = 2 THEN lead(at_ns) OVER level END AS end_ns,
        kind = 2 AND coalesce(lag(kind) OVER level, 2) <> 1 AS is_lonely
    FROM (SELECT *, depth + if(kind = 2, 1, 0) AS place FROM stepped WHERE kind IN (1, 2))
    WINDOW level AS (PARTITION BY track, place ORDER BY at_ns, "row")
    UNION ALL BY NAME
    SELECT *, if(kind = 5, at_ns + dur_ns, NULL) AS end_ns, false AS is_lonely FROM stepped WHERE kind NOT IN (1, 2)
)
SELECT $first + 2 * (row_number() OVER (ORDER BY p."row") - 1) AS id,
    CASE WHEN p.is_lost THEN 'lost' WHEN p.kind = 4 THEN 'C' WHEN p.kind = 3 THEN 'i' WHEN p.kind = 2 THEN 'E'
        WHEN p.kind = 1 AND end_ns IS NULL THEN 'B' WHEN p.kind IN (1, 5) THEN 'X' ELSE '?' END AS ph,
    if(p.kind = 1 AND end_ns IS NOT NULL, 2, 1) AS n_read,
    p.at_ns AS start_ns, p.end_ns - p.at_ns AS dur_ns, p.category AS cat, coalesce(p.name, t.name) AS name, p.value,
    p.track, p.generation, t.unit, t.is_incremental,
    CASE WHEN p.category IN ('kernel', 'kernel_dispatch') THEN 'kernels'
        WHEN p.category IN ('gpu_memcpy', 'gpu_memset', 'memory_copy') THEN 'memcpys'
        WHEN p.category = 'cpu_op' THEN 'ops'
        WHEN p.category IN ('cuda_runtime', 'cuda_driver', 'hip_api', 'hip_runtime_api', 'hip_compiler_api', 'hsa_api')
            THEN 'api_calls' ELSE 'ranges' END AS goes_to,
    a.args, coalesce(t.pid, 0) AS pid, coalesce(t.tid, 0) AS tid, t.process, t.thread,
    -- From the arguments, else from the names of the tracks.
    coalesce(TRY_CAST(json_extract_string(a.args, '$.device') AS BIGINT),
        TRY_CAST(regexp_extract(concat_ws(' ', t.process, t.thread), '(?:GPU|AGENT|Agent) \[?(\d+)', 1) AS BIGINT))
        AS device,
    coalesce(TRY_CAST(json_extract_string(a.args, '$.stream') AS BIGINT),
        TRY_CAST(regexp_extract(t.thread, '(?i)(?:stream|queue) \[?(\d+)', 1) AS BIGINT)) AS stream
FROM paired p
LEFT JOIN argument a ON a."row" = p."row"
LEFT JOIN track t ON t.uuid = p.track
WHERE NOT (p.kind = 2 AND NOT p.is_lonely)
