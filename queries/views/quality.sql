-- doc = "Faults of the input, and what could not be linked, counted: one row per file and kind of trouble."
-- materialize = true
-- [columns]
-- source = "file, for trouble in the input"
-- kind = "what was wrong"
-- n = "how often"
-- examples = "up to ten"
WITH launch AS (
    SELECT rank, correlation, start_ns, name FROM raw.api_calls WHERE correlation IS NOT NULL
        AND name LIKE '%Launch%Kernel%'
), unseen AS (
    SELECT l.rank, l.start_ns FROM launch l ANTI JOIN (SELECT rank, correlation FROM raw.kernels
        UNION ALL SELECT rank, correlation FROM raw.memcpys) k ON k.rank = l.rank AND k.correlation = l.correlation
    WHERE l.rank IN (SELECT rank FROM raw.kernels WHERE correlation IS NOT NULL)
), lost AS (
    -- What is captured as a graph does not run.
    SELECT l.rank, l.start_ns FROM unseen l
    ASOF LEFT JOIN graph_captures c ON c.rank = l.rank AND l.start_ns >= c.start_ns
    WHERE c.end_ns IS NULL OR l.start_ns >= c.end_ns
), seen AS (
    SELECT l.rank, max(l.start_ns) AS launched_ns
    FROM launch l JOIN raw.kernels k ON k.rank = l.rank AND k.correlation = l.correlation
    WHERE l.rank IN (SELECT rank FROM lost) GROUP BY l.rank
), worked AS (
    SELECT rank, max(until_ns) AS until_ns
    FROM (SELECT rank, start_ns + dur_ns AS until_ns FROM raw.kernels
        UNION ALL SELECT rank, start_ns + dur_ns FROM raw.memcpys)
    WHERE rank IN (SELECT rank FROM lost) GROUP BY rank
), queued AS (
    -- Launched after all that ran, the first of it while the device worked, as it did until the end of what counts.
    SELECT l.rank, min(l.start_ns) AS from_ns FROM lost l JOIN seen s ON s.rank = l.rank
    JOIN worked w ON w.rank = l.rank JOIN scope c ON c.rank = l.rank AND c.last_ns <= w.until_ns
    WHERE l.start_ns > s.launched_ns GROUP BY l.rank HAVING min(l.start_ns) < any_value(w.until_ns)
), span AS (
    -- Which files say without being read.
    SELECT max(until_ns) - min(from_ns) AS dur_ns
    FROM (SELECT min(start_ns) AS from_ns, max(start_ns) AS until_ns FROM raw.kernels
        UNION ALL SELECT min(start_ns), max(start_ns) FROM raw.memcpys
        UNION ALL SELECT min(start_ns), max(start_ns) FROM raw.ops
        UNION ALL SELECT min(start_ns), max(start_ns) FROM raw.api_calls)
), hour AS (
    -- Hours in which anything began, and when the last of it was over.
    SELECT rank, start_ns // 3600000000000 AS number, min(start_ns) AS from_ns, max(start_ns + dur_ns) AS until_ns
    FROM (SELECT rank, start_ns, dur_ns FROM raw.kernels UNION ALL BY NAME SELECT rank, start_ns, dur_ns
        FROM raw.memcpys
        UNION ALL BY NAME SELECT rank, start_ns, dur_ns FROM raw.ops
        UNION ALL BY NAME SELECT rank, start_ns, dur_ns FROM raw.api_calls)
    WHERE rank IN (SELECT rank FROM raw.ranks WHERE (SELECT dur_ns FROM span) > 3600000000000)
    GROUP BY ALL
), jump AS (
    SELECT rank, from_ns - max(until_ns) OVER (
        PARTITION BY rank ORDER BY number ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS empty_ns
    FROM hour
), overlapped AS (
    SELECT rank, device FROM raw.kernels WHERE start_ns < device_until_ns
    UNION SELECT rank, device FROM raw.memcpys WHERE start_ns < device_until_ns
)
SELECT c.rank, c.source, p.kind, p.n, p.examples FROM raw.captures c, unnest(c.problems) AS t(p)
UNION ALL BY NAME
SELECT rank, NULL AS source, 'kernels without a correlated launch' AS kind, count(*) AS n, NULL AS examples
FROM raw.kernels WHERE launch_id IS NULL GROUP BY rank
UNION ALL BY NAME
SELECT rank, NULL AS source, 'kernels without a CPU op' AS kind, count(*) AS n, NULL AS examples
FROM raw.kernels WHERE op_id IS NULL GROUP BY rank
UNION ALL BY NAME
SELECT rank, NULL AS source, 'kernels and copies whose device is not recorded, in no device''s time' AS kind,
    count(*) AS n, array_agg(DISTINCT name ORDER BY name)[:10] AS examples
FROM (SELECT rank, device, name FROM raw.kernels UNION ALL SELECT rank, device, name FROM raw.memcpys
    WHERE direction IS DISTINCT FROM 'HtoH')
WHERE device IS NULL AND rank IN (SELECT rank FROM recorded WHERE has_device) GROUP BY rank
UNION ALL BY NAME
SELECT rank, NULL AS source, 'CPU primitives beside a GPU, not in device time' AS kind, count(*) AS n, NULL AS examples
FROM raw.primitives WHERE rank IN (SELECT rank FROM raw.kernels UNION SELECT rank FROM raw.memcpys) GROUP BY rank
UNION ALL BY NAME
SELECT l.rank, NULL AS source, CASE WHEN l.rank IN (SELECT rank FROM raw.kernels WHERE correlation IS NULL)
        THEN 'launches whose kernel is not in the recording, or without its number'
    WHEN l.start_ns >= q.from_ns THEN 'launches whose kernel comes after the recording'
    ELSE 'launches whose kernel is not in the recording' END AS kind, count(*) AS n, NULL AS examples
FROM lost l LEFT JOIN queued q ON q.rank = l.rank GROUP BY ALL
UNION ALL BY NAME
SELECT k.rank, NULL AS source, 'kernels that start before their launch' AS kind, count(*) AS n,
    array_agg(k.name ORDER BY k.id)[:10] AS examples
FROM kernels k WHERE k.start_ns < k.launch_start_ns GROUP BY k.rank
UNION ALL BY NAME
SELECT rank, NULL AS source, 'jumps of the clock: more than an hour without any event' AS kind, count(*) AS n,
    array_agg(format('{:.1f} hours', empty_ns / 3.6e12) ORDER BY empty_ns DESC)[:10] AS examples
FROM jump WHERE empty_ns > 3600000000000 GROUP BY rank
UNION ALL BY NAME
SELECT rank, NULL AS source, 'pauses of the profiler itself' AS kind, sum(n)::BIGINT AS n,
    array_agg(format('{}: {} in {:.3f} ms', name, n, dur_ns / 1e6) ORDER BY dur_ns DESC, name)[:10] AS examples
FROM (SELECT rank, name, count(*) AS n, sum(dur_ns) AS dur_ns FROM profiler_pauses GROUP BY ALL)
GROUP BY rank
UNION ALL BY NAME
SELECT rank, NULL AS source, 'process ids with two names' AS kind, count(*) AS n,
    array_agg(pid || ': ' || names ORDER BY pid)[:10] AS examples
FROM (
    SELECT rank, pid, string_agg(DISTINCT args, ', ' ORDER BY args) AS names FROM raw.events
    WHERE phase = 'M' AND name = 'process_name' GROUP BY rank, pid HAVING count(DISTINCT args) > 1
) GROUP BY rank
UNION ALL BY NAME
SELECT rank, NULL AS source,
    CASE op_link WHEN 'several at once' THEN 'primitives that several operators at that time may have called'
        WHEN 'none of its kind' THEN 'primitives that no operator at that time can have called'
        ELSE 'primitives outside every operator' END AS kind,
    count(*) AS n, list_sort(list_distinct(list(raw.primitives.kind || ' ' || impl)))[:10] AS examples
FROM raw.primitives WHERE op_id IS NULL GROUP BY rank, op_link
UNION ALL BY NAME
SELECT rank, NULL AS source, 'rows that overlap another on their stream' AS kind, count(*) AS n, NULL AS examples
FROM (
    SELECT rank, start_ns, max(start_ns + dur_ns) OVER (
        PARTITION BY rank, device, stream ORDER BY start_ns, dur_ns DESC, id
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS busy_until_ns
    FROM (SELECT id, rank, device, stream, start_ns, dur_ns FROM raw.kernels
        UNION ALL BY NAME SELECT id, rank, device, stream, start_ns, dur_ns FROM raw.memcpys) w
    -- Where nothing overlaps on a device, nothing does on its streams.
    SEMI JOIN overlapped o ON o.rank = w.rank AND o.device IS NOT DISTINCT FROM w.device
    WHERE w.stream IS NOT NULL
) WHERE start_ns < busy_until_ns GROUP BY rank
UNION ALL BY NAME
SELECT rank, NULL AS source, 'allocations and releases of the driver, which no report of memory reads' AS kind,
    count(*) AS n, NULL AS examples
FROM raw.events
WHERE category IN ('cuda_gpu_memory_usage', 'memory_allocation')
    OR (category = 'memory' AND rank IN (SELECT rank FROM raw.captures WHERE format = 'rocm_db'))
GROUP BY rank
