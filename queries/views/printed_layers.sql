-- doc = """Times of one iteration by a framework's own log of averages, for ranks without a timeline: one row per
-- network, layer, kind and pass, the mean over the runs that have it. Logs that time several implementations of a
-- layer are left out: these do not add up."""
-- materialize = true
-- empty_without = ["layer_times"]
-- types = """rank INTEGER, layer VARCHAR, kind VARCHAR, direction VARCHAR, id BIGINT, dur_ns DOUBLE"""
-- [columns]
-- layer = "layer, with its network in front where the log has several"
-- direction = "fprop, dgrad or wgrad; none where the log gives passes together"
-- dur_ns = "average time in one iteration"
WITH single AS (
    SELECT * FROM layer_times t
    WHERE layer IS NOT NULL AND rank NOT IN (SELECT rank FROM raw.kernels UNION SELECT rank FROM raw.memcpys
        UNION SELECT rank FROM raw.ops UNION SELECT rank FROM raw.primitives)
        AND rank NOT IN (SELECT rank FROM layer_times WHERE layer IS NOT NULL
            GROUP BY rank, run, network, layer, direction HAVING count(DISTINCT impl) > 1)
        -- Sums that stand beside their parts.
        AND NOT (direction IN ('backward', 'forward_backward') AND EXISTS (FROM layer_times o
            WHERE o.rank = t.rank AND o.layer = t.layer AND o.run IS NOT DISTINCT FROM t.run
                AND o.network IS NOT DISTINCT FROM t.network
                AND (starts_with(o.direction, 'backward_') OR o.direction = 'backward' AND t.direction <> o.direction)))
), several AS (
    SELECT rank, count(DISTINCT network) > 1 AS are_named FROM single GROUP BY rank
)
SELECT s.rank, if(are_named, concat_ws(' ', network, layer), layer) AS layer, kind,
    CASE direction WHEN 'forward' THEN 'fprop' WHEN 'backward_data' THEN 'dgrad' WHEN 'backward_filter' THEN 'wgrad' END
        AS direction, min(id) AS id, sum(dur_ns) / greatest(count(DISTINCT run), 1) AS dur_ns
FROM single s JOIN several USING (rank)
GROUP BY s.rank, network, are_named, s.layer, kind, s.direction
