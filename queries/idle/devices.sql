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
SELECT rank, device, max(end_ns) - min(start_ns) AS span_ns, CAST(sum(alone_ns) AS BIGINT) AS busy_ns,
    CAST(max(end_ns) - min(start_ns) - sum(alone_ns) AS BIGINT) AS idle_ns,
    100.0 * (max(end_ns) - min(start_ns) - sum(alone_ns)) / nullif(max(end_ns) - min(start_ns), 0) AS idle_pct,
    count(*) FILTER (start_ns > covered_until_ns) AS gaps,
    max(start_ns - covered_until_ns) FILTER (start_ns > covered_until_ns) AS longest_ns
FROM busy
GROUP BY rank, device
ORDER BY rank, device
