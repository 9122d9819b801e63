-- title = "Layout conversions"
-- doc = """Kernels and primitives that change the order of a tensor's elements{, per step and rank| over the whole
-- recording, per rank}."""
-- cannot = "No layout conversions in this trace."
-- brief = ""
-- subject = "layout conversions"
-- top = 3
-- kernels = ["name"]
-- leave_out = ["conv_pct", "calls"]
-- rest = ["calls", "busy_ns", "busy_pct", "conv_pct"]
-- [columns]
-- place = "inside a convolution call, between operators, or (unknown): no operator recorded, no convolution beside it"
-- name = "kernel or primitive"
-- calls = "{per step|in the recording}"
-- busy_ns = "device time {per step|in the recording}, overlaps counted once"
-- busy_pct = "of all device time"
-- conv_pct = "of convolution time; only for what happens inside convolutions"
-- [headings]
-- busy_pct = "of active"
-- conv_pct = "of conv time"
-- [fractions]
-- calls = "calls{/step| (mean)}"
WITH conv AS (SELECT sum(total_ns / per_rank) AS total_ns FROM conv_totals),
every AS (SELECT sum(alone_ns / per_rank) AS busy_ns FROM totals WHERE is_counted OR is_carried)
SELECT
    if(in_call, 'inside convolutions', if(has_op, 'between operators', '(unknown)')) AS place,
    name, round(sum(n / per_rank) FILTER (is_continued IS NOT true), 6) AS calls, sum(alone_ns / per_rank) AS busy_ns,
    100.0 * sum(alone_ns / per_rank) / nullif(any_value(every.busy_ns), 0) AS busy_pct,
    if(in_call, 100.0 * sum(totals.total_ns / per_rank) / nullif(any_value(conv.total_ns), 0), NULL) AS conv_pct
FROM totals, conv, every
WHERE is_counted AND category = 'layout_transpose'
GROUP BY place, in_call, name
ORDER BY 4 DESC, 1, 2
