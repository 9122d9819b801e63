-- title = "Most expensive kernels and operators"
-- doc = """Kernels on a GPU; on a CPU primitives, and operators with their time outside of primitives. {Per step and
-- rank|Over the whole recording, per rank}, overlapping work counted once, for what started first."""
-- cannot = "No kernel, primitive or operator ran inside the steps of this trace."
-- brief = ""
-- subject = "kernels and operators"
-- top = 5
-- first = 6
-- without = ["kind", "total_ns", "calls"]
-- kernels = ["name"]
-- leave_out = ["beside_ns", "kind", "category"]
-- rest = ["calls", "busy_ns", "total_ns", "step_pct"]
-- [columns]
-- name = "as recorded"
-- kind = "kernel, primitive or op"
-- category = "what it does; see docs/vocabulary.md"
-- calls = "{per step|in the recording}"
-- busy_ns = "device time {per step|in the recording}, overlaps on a device counted once"
-- total_ns = """sum of durations {per step|in the recording}: more than busy by what ran beside work that had started
-- before, on another stream"""
-- beside_ns = "total less busy, where that is a hundredth of it or more"
-- step_pct = "of {step time|the recording}; of several devices, of the step of each"
-- [headings]
-- beside_ns = "beside other work"
-- step_pct = "of {step|recording}"
-- [fractions]
-- calls = "calls{/step| (mean)}"
WITH step AS (
    SELECT sum(step_ns) AS step_ns, count(DISTINCT rank) AS n_ranks FROM account
)
SELECT name, kind, category, round(sum(n / per_rank) FILTER (is_continued IS NOT true), 6) AS calls,
    sum(alone_ns / per_rank) AS busy_ns, sum(total_ns / per_rank) AS total_ns,
    if(sum(alone_ns) < 0.99 * sum(total_ns), sum((total_ns - alone_ns) / per_rank), NULL) AS beside_ns,
    100.0 * sum(alone_ns / per_rank) * any_value(s.n_ranks) / nullif(any_value(s.step_ns), 0) AS step_pct
FROM totals t, step s
WHERE is_counted AND kind <> 'copy'
GROUP BY name, kind, category
ORDER BY total_ns DESC, name, kind, category
