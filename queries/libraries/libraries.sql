-- title = "By library"
-- doc = "A framework's row holds kernels it brings itself, and on a CPU the time of its operators outside libraries."
-- cannot = "No work of a device was found in this trace."
-- leave_out = ["names"]
-- [columns]
-- library = "library; (unknown) where the name does not say"
-- calls = "kernels, copies, primitives or operators {per step|in the recording}"
-- names = "distinct names"
-- busy_ns = "device time {per step|in the recording}, overlaps counted once"
-- busy_pct = "of all device time"
-- [headings]
-- busy_pct = "of device time"
-- [fractions]
-- calls = "calls{/step| (mean)}"
WITH named AS (
    SELECT * REPLACE (if(is_carried, '(launched outside these steps)', coalesce(library, '(unknown)')) AS library)
    FROM totals WHERE is_counted OR is_carried
)
SELECT library, round(sum(n / per_rank) FILTER (is_continued IS NOT true), 6) AS calls,
    count(DISTINCT name) AS names,
    sum(alone_ns / per_rank) AS busy_ns,
    100.0 * sum(alone_ns / per_rank) / nullif(sum(sum(alone_ns / per_rank)) OVER (), 0) AS busy_pct
FROM named
GROUP BY 1
ORDER BY busy_ns DESC, library
