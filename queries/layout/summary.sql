-- title = "Where they happen"
-- doc = "Inside convolution calls the library or framework asked for them; between operators the program or framework did."
-- cannot = "No layout change in this trace."
-- [columns]
-- place = "inside a convolution call, or between operators"
-- calls = "per step"
-- busy_ns = "device time per step, overlaps counted once"
-- busy_pct = "of all device time"
-- conv_pct = "their time inside convolutions, of convolution time"
WITH every AS MATERIALIZED (
    SELECT category, call_id, per, alone_ns, dur_ns FROM counted
), conv AS (
    SELECT sum(dur_ns / per) AS total_ns FROM every WHERE call_id IS NOT NULL
)
SELECT if(call_id IS NULL, 'between operators', 'inside convolutions') AS place,
    sum(1.0 / per) AS calls, sum(alone_ns / per) AS busy_ns,
    100.0 * sum(alone_ns / per) / nullif((SELECT sum(alone_ns / per) FROM every), 0) AS busy_pct,
    CASE WHEN call_id IS NOT NULL THEN 100.0 * sum(dur_ns / per) / nullif((SELECT total_ns FROM conv), 0) END AS conv_pct
FROM every
WHERE category = 'layout_transpose'
GROUP BY call_id IS NULL, call_id IS NOT NULL
ORDER BY busy_ns DESC, place
