-- title = "What the device waited for"
-- doc = "Idle stretches by the category of what ended them, over the whole recording."
-- cannot = "The device was never idle between its first and its last work."
-- [columns]
-- rank = "process of the job"
-- device = "device"
-- before = "category of what ran after the gap"
-- operator = "operator that launched it"
-- gaps = "idle stretches"
-- idle_ns = "their sum"
-- longest_ns = "the longest"
-- idle_pct = "of all idle time of the device"
SELECT rank, device, category AS before, coalesce(op_name, '?') AS operator, CAST(sum(totals.gaps) AS BIGINT) AS gaps,
    CAST(sum(gap_ns) AS BIGINT) AS idle_ns, max(longest_gap_ns) AS longest_ns,
    100.0 * sum(gap_ns)
        / nullif(sum(sum(gap_ns)) OVER (PARTITION BY rank, device), 0) AS idle_pct
FROM totals
WHERE totals.gaps > 0
GROUP BY rank, device, category, operator
ORDER BY idle_ns DESC, rank, device, before, operator
