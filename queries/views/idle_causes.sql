-- doc = """Why a device was idle, inside the steps that count (without steps: in the whole recording). The causes
-- add up to the idle time of the view account; what each means is said by the view idle_gaps."""
-- materialize = true
-- [columns]
-- cause = "launch, data, synchronisation, allocation, graph capture, communication, between steps or unknown"
-- idle_ns = "per step"
-- idle_pct = "of the idle time of the device"
-- step_pct = "of the step"
-- n_gaps = "gaps of which it is the largest part, in all steps that count"
-- longest_ns = "the longest of these"
-- per = "steps that count, or 1 without steps"
SELECT t.rank, t.device, t.cause, sum(t.idle_ns) / any_value(a.per) AS idle_ns,
    100.0 * sum(t.idle_ns) / nullif(sum(sum(t.idle_ns)) OVER (PARTITION BY t.rank, t.device), 0) AS idle_pct,
    100.0 * sum(t.idle_ns) / any_value(a.per) / nullif(any_value(a.step_ns), 0) AS step_pct,
    CAST(sum(t.n_gaps) AS BIGINT) AS n_gaps, max(t.longest_ns) AS longest_ns, any_value(a.per) AS per,
    any_value(a.step_ns) AS step_ns, any_value(a.has_steps) AS has_steps
FROM idle_totals t JOIN account a ON a.rank = t.rank AND a.device = t.device AND a.idle_ns IS NOT NULL
GROUP BY t.rank, t.device, t.cause
