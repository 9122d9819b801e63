-- title = "By place"
-- doc = """Conversions inside convolution calls come from the library or framework, those between operators from the
-- program or framework. Where no operator is recorded for them (without its launch none is), those of a convolution
-- library beside its kernels are inside, and of others nothing tells."""
-- cannot = "No layout conversions in this trace."
-- [columns]
-- place = "inside a convolution call, between operators, or (unknown): no operator recorded, no convolution beside it"
-- calls = "{per step|in the recording}"
-- busy_ns = "device time {per step|in the recording}, overlaps counted once"
-- busy_pct = "of all device time"
-- conv_pct = "their time inside convolutions, of convolution time"
-- [headings]
-- busy_pct = "of device time"
-- conv_pct = "of conv time"
-- [fractions]
-- calls = "calls{/step| (mean)}"
WITH every AS MATERIALIZED (
    SELECT category, in_call, has_op, is_continued, is_counted, per_rank, n, alone_ns, total_ns
    FROM totals WHERE is_counted OR is_carried
), conv AS (
    SELECT sum(every.total_ns / per_rank) AS total_ns FROM every WHERE in_call AND is_counted
)
SELECT if(in_call, 'inside convolutions', if(has_op, 'between operators', '(unknown)')) AS place,
    round(sum(n / per_rank) FILTER (is_continued IS NOT true), 6) AS calls, sum(alone_ns / per_rank) AS busy_ns,
    100.0 * sum(alone_ns / per_rank) / nullif((SELECT sum(alone_ns / per_rank) FROM every), 0) AS busy_pct,
    CASE WHEN in_call THEN 100.0 * sum(every.total_ns / per_rank) / nullif((SELECT total_ns FROM conv),
        0) END AS conv_pct
FROM every
WHERE is_counted AND category = 'layout_transpose'
GROUP BY place, in_call
ORDER BY busy_ns DESC, place
