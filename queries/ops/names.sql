-- title = "By name"
-- doc = "Host time includes operators inside; self time does not. Device time is that of the kernels, copies and primitives whose innermost operator it is."
-- cannot = "No framework operators in this trace."
-- [columns]
-- name = "operator, as recorded"
-- category = "what it computes"
-- calls = "times it ran"
-- host_ns = "time on the host, operators inside included"
-- self_ns = "time on the host without operators inside"
-- device_ns = "sum of durations on the device, of what it launched itself"
-- self_pct = "self time, of that of all operators"
WITH device AS (
    SELECT op_id, sum(dur_ns) AS device_ns FROM activities WHERE kind <> 'op' AND op_id IS NOT NULL GROUP BY op_id
)
SELECT o.name, any_value(o.category) AS category, count(*) AS calls,
    CAST(sum(o.dur_ns) AS BIGINT) AS host_ns, CAST(sum(o.self_ns) AS BIGINT) AS self_ns,
    CAST(sum(d.device_ns) AS BIGINT) AS device_ns,
    100.0 * sum(o.self_ns) / nullif(sum(sum(o.self_ns)) OVER (), 0) AS self_pct
FROM ops o LEFT JOIN device d ON d.op_id = o.id
GROUP BY o.name
ORDER BY coalesce(sum(d.device_ns), 0) DESC, sum(o.self_ns) DESC, o.name
