-- title = "Layout changes"
-- doc = "Kernels and primitives that only change the order of a tensor's elements, per step."
-- cannot = "No layout change in this trace."
-- [columns]
-- place = "inside a convolution call, or between operators"
-- name = "kernel or primitive"
-- calls = "per step"
-- busy_ns = "device time per step, overlaps counted once"
-- busy_pct = "of all device time"
-- conv_pct = "of convolution time; only for what happens inside convolutions"
WITH conv AS (SELECT sum(total_ns / per) AS total_ns FROM counted_conv_calls),
every AS (SELECT sum(alone_ns / per) AS busy_ns FROM counted)
SELECT
    if((call_id IS NULL), 'between operators', 'inside convolutions') AS place,
    name, sum(1.0 / per) FILTER (is_continued IS NOT true) AS calls, sum(alone_ns / per) AS busy_ns,
    100.0 * sum(alone_ns / per) / nullif(any_value(every.busy_ns), 0) AS busy_pct,
    if((call_id IS NULL), NULL, 100.0 * sum(dur_ns / per) / nullif(any_value(conv.total_ns), 0)) AS conv_pct
FROM counted, conv, every
WHERE category = 'layout_transpose'
GROUP BY (call_id IS NULL), name
ORDER BY 4 DESC, 1, 2
