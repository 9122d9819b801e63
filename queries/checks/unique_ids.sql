-- doc = "Numbers that two rows of one table have."
-- [columns]
-- kind = "table of the rows"
-- n = "rows with this number"
SELECT kind, id, count(*) AS n
FROM (SELECT 'kernels' AS kind, id FROM kernels UNION ALL SELECT 'memcpys', id FROM memcpys
    UNION ALL SELECT 'ops', id FROM ops UNION ALL SELECT 'primitives', id FROM primitives
    UNION ALL SELECT 'api_calls', id FROM api_calls UNION ALL SELECT 'ranges', id FROM ranges)
GROUP BY kind, id
HAVING n > 1
ORDER BY kind, id
