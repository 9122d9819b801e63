-- doc = """Time per step and rank by kernel, copy, primitive or operator; of a profiler's printed summary the sums of
-- the whole run."""
-- [columns]
-- name = "name, as recorded"
-- category = "what it was"
-- calls = "how often it ran"
-- busy_ns = "time, overlaps counted once"
SELECT name, category,
    CAST(round(coalesce(sum(weight) FILTER (is_start AND is_continued IS NOT true), 0), 6) AS DOUBLE) AS calls,
    CAST(sum(own_ns * weight) AS DOUBLE) AS busy_ns
FROM chosen_rows WHERE NOT is_carried
GROUP BY ALL
UNION ALL
SELECT name, any_value(coalesce(category, 'mem' || if(copy_direction = 'memset', 'set',
        'cpy_' || lower(copy_direction)))), CAST(sum(calls) AS DOUBLE), CAST(sum(total_ns) AS DOUBLE)
FROM printed_totals
GROUP BY name
ORDER BY ALL
