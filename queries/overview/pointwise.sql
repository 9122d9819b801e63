-- title = "Bias, activation and pooling"
-- doc = """{Per step and rank|Over the whole recording, per rank}, with the library that implements each. Biases inside
-- a fused primitive have no time of their own and are not listed."""
-- cannot = "No bias addition, activation or pooling was recorded on its own."
-- brief = "A bias inside a fused kernel has no time of its own."
-- subject = "bias, activation and pooling kernels"
-- top = 4
-- leave_out = ["direction"]
-- rest = ["calls", "busy_ns", "busy_pct"]
-- [columns]
-- category = "bias, activation or pooling"
-- direction = "fprop or backward, where known"
-- library = "library that implements it"
-- calls = "{per step|in the recording}"
-- busy_ns = "device time {per step|in the recording}, overlaps counted once"
-- busy_pct = "of all device time"
-- [headings]
-- busy_pct = "of active"
-- [fractions]
-- calls = "calls{/step| (mean)}"
SELECT category, direction, library, round(sum(n / per_rank) FILTER (is_continued IS NOT true), 6) AS calls,
    sum(alone_ns / per_rank) AS busy_ns,
    100.0 * sum(alone_ns / per_rank) / nullif((SELECT sum(alone_ns / per_rank) FROM totals
        WHERE is_counted OR is_carried),
        0) AS busy_pct
FROM totals
WHERE is_counted AND category IN ('bias', 'activation', 'pooling')
GROUP BY category, direction, library
ORDER BY busy_ns DESC, category, direction, library
