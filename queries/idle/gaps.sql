-- title = "What the device waited for"
-- doc = """Idle gaps inside the {steps|recording} by the category of what ended them{; without steps those of the whole
-- recording|}."""
-- cannot = "The device was never idle between its first and its last work, or no time stamps tell when."
-- leave_out = ["longest_ns", "gaps"]
-- [columns]
-- rank = "process of the job"
-- device = "device"
-- before = "category of what ran after the gap"
-- operator = "operator that launched it"
-- cause = "why most of it was idle"
-- gaps = "idle gaps {per step|in the recording}"
-- idle_ns = "their sum{, per step| in the recording}"
-- longest_ns = "the longest"
-- idle_pct = "of all idle time of the device"
-- [headings]
-- idle_pct = "of idle"
-- [fractions]
-- gaps = "gaps{/step| (mean)}"
WITH every AS (
    SELECT rank, device, coalesce(before, '(nothing)') AS before, coalesce(op_name, '?') AS operator, cause, n_gaps,
        idle_ns, longest_ns
    FROM idle_totals
)
SELECT e.rank, e.device, e.before, e.operator, arg_max(e.cause, (e.idle_ns, e.cause)) AS cause,
    sum(e.n_gaps) / any_value(a.per) AS gaps, sum(e.idle_ns) / any_value(a.per) AS idle_ns,
    max(e.longest_ns) AS longest_ns,
    100.0 * sum(e.idle_ns) / nullif(sum(sum(e.idle_ns)) OVER (PARTITION BY e.rank, e.device), 0) AS idle_pct
FROM every e JOIN account a ON a.rank = e.rank AND a.device = e.device AND a.idle_ns IS NOT NULL
GROUP BY e.rank, e.device, e.before, e.operator
ORDER BY idle_ns DESC, e.rank, e.device, e.before, e.operator
