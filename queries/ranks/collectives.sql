-- title = "Waiting and transfer"
-- doc = """Matched collectives. Waiting is the time until the last rank came, transfer the rest. Rates are of the
-- transfer alone: bytes over time, and on the bus what a ring moves over each link: 2 (n - 1) / n times the bytes for
-- an all-reduce of n ranks, (n - 1) / n times for reduce-scatter and all-to-all, n - 1 times for all-gather, whose
-- input is the share of one rank (NVIDIA nccl-tests, doc/PERFORMANCE.md). Of collectives that a rank of the group has
-- no record of neither is known."""
-- cannot = "No collective could be matched across ranks."
-- leave_out = ["group_name", "size_bytes", "skew_max_ns", "wait_pct", "algorithm_bytes_per_s"]
-- [columns]
-- kind = "what is exchanged"
-- group_name = "process group, where recorded"
-- ranks = "ranks of the group that were found"
-- n = "collectives{, per step| in the recording}"
-- size_bytes = "mean bytes of the input of a rank, where recorded"
-- dur_ns = "mean duration of a call"
-- wait_ns = "of it, waiting for the last rank"
-- wait_pct = "of the time in these calls"
-- transfer_ns = "the rest of it"
-- skew_ns = "median time between the first and the last start"
-- skew_max_ns = "the longest such time"
-- algorithm_bytes_per_s = "bytes over transfer"
-- bus_bytes_per_s = "what a ring would move over each link"
-- [headings]
-- wait_pct = "waiting of calls"
-- algorithm_bytes_per_s = "rate"
-- bus_bytes_per_s = "bus rate"
-- skew_ns = "skew"
-- skew_max_ns = "most skew"
-- [fractions]
-- n = "n{/step| (mean)}"
WITH one AS (
    SELECT match_id, what, group_name, team, any_value(is_complete) AS is_complete, any_value(n_found) AS ranks,
        any_value(n_expected) AS n_expected,
        avg(size_bytes) AS size_bytes, avg(dur_ns) AS dur_ns, avg(wait_ns) AS wait_ns, avg(transfer_ns) AS transfer_ns,
        any_value(collective_ns) AS collective_ns, max(skew_ns) AS skew_ns, max(per) AS per
    FROM rank_waits WHERE is_counted GROUP BY match_id, what, group_name, team
)
SELECT what AS kind, group_name, max(ranks) AS ranks, count(*) / max(per) AS n, avg(size_bytes) AS size_bytes,
    avg(dur_ns) AS dur_ns, avg(wait_ns) AS wait_ns,
    100.0 * sum(wait_ns) / nullif(sum(dur_ns) FILTER (is_complete), 0) AS wait_pct,
    avg(transfer_ns) AS transfer_ns, CAST(median(skew_ns) AS BIGINT) AS skew_ns, max(skew_ns) AS skew_max_ns,
    1e9 * sum(size_bytes) FILTER (is_complete)
        / nullif(sum(collective_ns) FILTER (size_bytes IS NOT NULL), 0) AS algorithm_bytes_per_s,
    CASE what WHEN 'all_reduce' THEN 2.0 WHEN 'all_gather' THEN n_expected WHEN 'reduce_scatter' THEN 1.0
        WHEN 'all_to_all' THEN 1.0 END * (n_expected - 1) / n_expected * 1e9 * sum(size_bytes) FILTER (is_complete)
        / nullif(sum(collective_ns) FILTER (size_bytes IS NOT NULL), 0) AS bus_bytes_per_s
FROM one
GROUP BY what, group_name, n_expected
ORDER BY sum(dur_ns) DESC, kind, group_name, n_expected
