-- title = "By library and category"
-- doc = "Kinds of work of each library."
-- cannot = "No work of a device was found in this trace."
-- [columns]
-- library = "library; (unknown) where the name does not say"
-- category = "what it was (docs/vocabulary.md)"
-- calls = "{per step|in the recording}"
-- busy_ns = "device time {per step|in the recording}, overlaps counted once"
-- library_pct = "of the library's device time"
-- busy_pct = "of all device time"
-- [headings]
-- library_pct = "of library"
-- busy_pct = "of device time"
-- [fractions]
-- calls = "calls{/step| (mean)}"
WITH named AS (
    SELECT * REPLACE (if(is_carried, '(launched outside these steps)', coalesce(library, '(unknown)')) AS library)
    FROM totals WHERE is_counted OR is_carried
)
SELECT library, category,
    round(sum(n / per_rank) FILTER (is_continued IS NOT true), 6) AS calls, sum(alone_ns / per_rank) AS busy_ns,
    100.0 * sum(alone_ns / per_rank) / nullif(sum(sum(alone_ns / per_rank)) OVER (PARTITION BY library), 0)
        AS library_pct,
    100.0 * sum(alone_ns / per_rank) / nullif(sum(sum(alone_ns / per_rank)) OVER (), 0) AS busy_pct
FROM named
GROUP BY library, category
ORDER BY busy_ns DESC, library, category
