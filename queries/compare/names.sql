-- title = "Kernels, copies, primitives and operators that differ most"
-- doc = """By name as recorded, so that frameworks and versions that name things differently stand apart;
-- overlapping work is counted once. Of a profiler's printed summary these are sums of the whole run."""
-- cannot = "There are no two runs with timelines or printed summaries, or neither has a kernel, copy or operator."
-- leave_out = ["category", "base_calls", "calls", "ratio", "share_pct"]
-- first = 5
-- without = ["base_calls", "calls", "ratio", "category", "share_pct"]
-- kernels = ["name"]
-- [columns]
-- run = "run"
-- name = "as recorded"
-- category = "what it is"
-- base_calls = "of A"
-- calls = "of the run"
-- base_ns = "time of A"
-- busy_ns = "time of the run"
-- diff_ns = "difference"
-- ratio = "the run's over A's"
-- share_pct = "of the difference of the whole step"
-- [headings]
-- share_pct = "of difference"
WITH side AS (
    SELECT p.run, p.label, p.share_of_ns AS whole_ns, n.name, n.category,
        coalesce(sum(n.calls) FILTER (n.run = 0), 0) AS base_calls,
        coalesce(sum(n.calls) FILTER (n.run > 0), 0) AS calls,
        coalesce(sum(n.busy_ns) FILTER (n.run = 0), 0) AS base_ns,
        coalesce(sum(n.busy_ns) FILTER (n.run > 0), 0) AS busy_ns
    FROM pair p JOIN name n ON n.run IN (0, p.run)
    WHERE NOT p.is_log
    GROUP BY p.run, p.label, p.share_of_ns, n.name, n.category
)
SELECT label AS run, name, category, base_calls, calls, base_ns, busy_ns, busy_ns - base_ns AS diff_ns,
    busy_ns / nullif(base_ns, 0) AS ratio, 100.0 * (busy_ns - base_ns) / whole_ns AS share_pct
FROM side
ORDER BY side.run, abs(busy_ns - base_ns) DESC, name, category
