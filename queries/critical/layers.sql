-- title = "Layers on the path"
-- doc = "Time on the path by layer and part. A launch belongs to the layer of what it launched."
-- cannot = "No layers are recorded."
-- top = 12
-- [columns]
-- layer = "module, range or scope"
-- dur_ns = "time on the path"
-- device_ns = "of it kernels, copies and CPU work"
-- host_ns = "of it the host: operators, calls, launches"
-- path_pct = "of the path"
-- [headings]
-- path_pct = "of path"
WITH whole AS (
    SELECT sum(dur_ns) AS dur_ns FROM critical_part
)
SELECT p.layer, CAST(sum(p.dur_ns) AS BIGINT) AS dur_ns,
    CAST(coalesce(sum(p.dur_ns) FILTER (p.part = 'device'), 0) AS BIGINT) AS device_ns,
    CAST(coalesce(sum(p.dur_ns) FILTER (p.part IN ('host', 'launch')), 0) AS BIGINT) AS host_ns,
    100.0 * sum(p.dur_ns) / nullif(any_value(w.dur_ns), 0) AS path_pct
FROM critical_part p CROSS JOIN whole w WHERE p.layer IS NOT NULL
GROUP BY p.layer
ORDER BY sum(p.dur_ns) DESC, p.layer
