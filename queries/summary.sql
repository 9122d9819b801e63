-- doc = "Contents of a capture in a few lines."
-- [columns]
-- what = "what is said"
-- value = "in words"
WITH lines AS (
    SELECT 1 AS line, 'framework' AS what, string_agg(DISTINCT framework || coalesce(' ' || framework_version, ''), ', '
        ORDER BY framework || coalesce(' ' || framework_version, '')) AS value
    FROM captures
    UNION ALL
    SELECT 2, 'format', string_agg(DISTINCT format, ', ' ORDER BY format) FROM captures
    UNION ALL
    SELECT 3, 'devices', string_agg(DISTINCT name, ', ' ORDER BY name) FROM devices
    UNION ALL
    SELECT 4, 'ranks', CAST(count(*) AS VARCHAR) FROM ranks
    UNION ALL
    SELECT 5, 'steps', format('{} counted, mean {:.3f} ms', sum(n_steps), sum(total_ns) / sum(n_steps) / 1e6)
        || if(sum(n_warmup) > 0, format('; {} of warm-up left out', sum(n_warmup)), '')
    FROM scope WHERE has_steps HAVING sum(n_steps) > 0
    UNION ALL
    SELECT 5, 'steps', 'none found' FROM scope HAVING coalesce(sum(n_steps), 0) = 0
    UNION ALL
    SELECT 6, 'rows', format('{:,} kernels, {:,} memcpys, {:,} primitives, {:,} ops', CAST(sum(kernels) AS BIGINT),
        CAST(sum(memcpys) AS BIGINT), CAST(sum(primitives) AS BIGINT), CAST(sum(ops) AS BIGINT)) FROM recorded
)
SELECT what, value FROM lines WHERE value IS NOT NULL ORDER BY line
