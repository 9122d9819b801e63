-- doc = "Framework operators by name, over the whole recording."
-- materialize = true
-- whole_job = true
-- [columns]
-- name = "operator, as recorded"
-- category = "what it computes; all of it where it works for operators of several kinds"
-- calls = "times it ran"
-- host_ns = "time on the host, operators inside included"
-- self_ns = "time on the host without operators inside"
-- device_ns = "sum of durations on the device, of what it launched itself"
WITH device AS (
    SELECT op_id, sum(dur_ns) AS device_ns FROM activities WHERE kind <> 'op' AND op_id IS NOT NULL GROUP BY op_id
)
SELECT o.name, string_agg(DISTINCT o.category, ', ' ORDER BY o.category) AS category, count(*) AS calls,
    CAST(sum(o.dur_ns) AS BIGINT) AS host_ns, CAST(sum(o.self_ns) AS BIGINT) AS self_ns,
    CAST(sum(d.device_ns) AS BIGINT) AS device_ns
FROM ops o LEFT JOIN device d ON d.op_id = o.id
GROUP BY o.name
