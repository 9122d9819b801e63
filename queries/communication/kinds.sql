-- title = "By kind"
-- doc = """Bus bandwidth counts what a ring moves over each link: 2 (n - 1) / n times the bytes for an all-reduce of n
-- ranks, (n - 1) / n times for reduce-scatter, and n - 1 times for all-gather, whose input is the share of one rank
-- (NVIDIA nccl-tests, doc/PERFORMANCE.md). Rates leave out what calls wait for the last rank, where they are matched
-- across ranks (see the report ranks)."""
-- cannot = "No communication in this trace."
-- leave_out = ["mean_ns", "group_size", "algorithm_bytes_per_s", "size_bytes", "bus_bytes_per_s"]
-- [columns]
-- rank = "process of the job"
-- kind = "all_reduce, broadcast, ... in one spelling, as recorded, else from the name"
-- group_size = "ranks that take part, where recorded"
-- calls = "kernels or calls"
-- size_bytes = "bytes of their inputs, where recorded"
-- total_ns = "sum of durations"
-- mean_ns = "per call"
-- exposed_ns = "time in which it ran and no kernel computed, overlapping communication counted once"
-- exposed_pct = "of the time of this kind, overlaps counted once"
-- algorithm_bytes_per_s = """bytes over time; where the wait for the last rank is known of some calls, of these and
-- without it"""
-- bus_bytes_per_s = "bus bandwidth, where the group is known"
-- [headings]
-- exposed_pct = "exposed of own time"
-- algorithm_bytes_per_s = "rate"
-- bus_bytes_per_s = "bus rate"
SELECT rank, what AS kind, group_size, count(DISTINCT id) AS calls, CAST(sum(size_bytes) AS BIGINT) AS size_bytes,
    CAST(sum(dur_ns) AS BIGINT) AS total_ns, sum(dur_ns) / count(DISTINCT id) AS mean_ns,
    CAST(sum(own_ns - hidden_ns) AS BIGINT) AS exposed_ns,
    100.0 * sum(own_ns - hidden_ns) / nullif(sum(own_ns), 0) AS exposed_pct,
    coalesce(1e9 * sum(size_bytes) FILTER (wait_ns IS NOT NULL)
            / nullif(sum(dur_ns - wait_ns) FILTER (size_bytes IS NOT NULL), 0),
        1e9 * sum(size_bytes) / nullif(sum(dur_ns) FILTER (size_bytes IS NOT NULL), 0)) AS algorithm_bytes_per_s,
    CASE what WHEN 'all_reduce' THEN 2.0 WHEN 'all_gather' THEN group_size WHEN 'reduce_scatter' THEN 1.0 END
        * (group_size - 1) / group_size * algorithm_bytes_per_s AS bus_bytes_per_s
FROM exchanges LEFT JOIN (SELECT id, any_value(wait_ns) AS wait_ns FROM rank_waits GROUP BY id) USING (id)
GROUP BY rank, what, group_size
ORDER BY rank, total_ns DESC, kind, group_size
