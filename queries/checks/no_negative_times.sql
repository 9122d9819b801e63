-- doc = "Rows that last less than nothing, or do not end where they last to."
-- [columns]
-- part = "table of the row"
SELECT 'kernels' AS part, rank, id, name, start_ns, dur_ns FROM kernels
WHERE dur_ns < 0 OR end_ns <> start_ns + dur_ns
UNION ALL
SELECT 'memcpys', rank, id, direction, start_ns, dur_ns FROM memcpys
WHERE dur_ns < 0 OR end_ns <> start_ns + dur_ns OR size_bytes < 0
UNION ALL
SELECT 'ops', rank, id, name, start_ns, dur_ns FROM ops WHERE dur_ns < 0 OR end_ns <> start_ns + dur_ns
UNION ALL
SELECT 'primitives', rank, id, kind, start_ns, dur_ns FROM primitives
WHERE dur_ns < 0 OR end_ns <> start_ns + dur_ns
UNION ALL
SELECT 'api_calls', rank, id, name, start_ns, dur_ns FROM api_calls WHERE dur_ns < 0 OR end_ns <> start_ns + dur_ns
UNION ALL
SELECT 'ranges', rank, id, name, start_ns, dur_ns FROM ranges WHERE dur_ns < 0 OR end_ns <> start_ns + dur_ns
ORDER BY part, rank, id
