-- title = "By device"
-- doc = "From the first to the last thing the device did; busy is the union over its streams."
-- cannot = "Nothing ran on a device in this trace."
-- [columns]
-- rank = "process of the job"
-- device = "device"
-- span_ns = "from first start to last end"
-- busy_ns = "union of everything it did"
-- idle_ns = "span without busy"
-- idle_pct = "of the span"
-- gaps = "idle stretches"
-- longest_ns = "the longest of them"
SELECT rank, device, max(last_ns) - min(first_ns) AS span_ns, CAST(sum(alone_ns) AS BIGINT) AS busy_ns,
    CAST(max(last_ns) - min(first_ns) - sum(alone_ns) AS BIGINT) AS idle_ns,
    100.0 * (max(last_ns) - min(first_ns) - sum(alone_ns)) / nullif(max(last_ns) - min(first_ns), 0) AS idle_pct,
    CAST(sum(totals.gaps) AS BIGINT) AS gaps,
    max(longest_gap_ns) AS longest_ns
FROM totals
GROUP BY rank, device
ORDER BY rank, device
