-- title = "quality"
-- doc = "What was wrong in the input or could not be linked, counted: one row per file and kind of trouble."
-- [columns]
-- source = "file, for trouble in the input"
-- kind = "what was wrong"
-- n = "how often"
-- examples = "up to ten"
SELECT c.rank, c.source, p.kind, p.n, p.examples FROM raw.captures c, unnest(c.problems) AS t(p)
UNION ALL BY NAME
SELECT rank, NULL AS source, 'kernel without a recorded launch' AS kind, count(*) AS n, NULL AS examples
FROM raw.kernels WHERE launch_id IS NULL GROUP BY rank
UNION ALL BY NAME
SELECT rank, NULL AS source, 'kernel without an operator' AS kind, count(*) AS n, NULL AS examples
FROM raw.kernels WHERE op_id IS NULL GROUP BY rank
UNION ALL BY NAME
SELECT rank, NULL AS source, 'primitive outside every operator' AS kind, count(*) AS n, NULL AS examples
FROM raw.primitives WHERE op_id IS NULL GROUP BY rank
UNION ALL BY NAME
SELECT rank, NULL AS source, 'row that overlaps another on its stream' AS kind, count(*) AS n, NULL AS examples
FROM (
    SELECT rank, start_ns, max(start_ns + dur_ns) OVER (
        PARTITION BY rank, device, stream ORDER BY start_ns, dur_ns DESC, id
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS busy_until_ns
    FROM (SELECT id, rank, device, stream, start_ns, dur_ns FROM raw.kernels
        UNION ALL BY NAME SELECT id, rank, device, stream, start_ns, dur_ns FROM raw.memcpys)
) WHERE start_ns < busy_until_ns GROUP BY rank
