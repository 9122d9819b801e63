-- title = "Idle by cause"
-- doc = """Why the devices were idle {inside the step, per step and rank|in the whole recording, per rank}, summed over
-- its devices; the causes add up to the idle time. launch: the host had not launched the next work yet;
-- synchronisation: the host waited for the device; between steps: the gap reaches over the edge of a step."""
-- cannot = "No device was idle, nothing ran on one, or no time stamps tell when."
-- brief = "launch: the host had not launched the next work yet; unknown: no recorded cause."
-- subject = "idle time"
-- line = "{cause} {step_pct} ({idle_ns})"
-- leave_out = ["gaps"]
-- [chart]
-- kind = "stack"
-- label = "cause"
-- value = "idle_ns"
-- of = "the idle time"
-- [columns]
-- cause = "what the host did meanwhile"
-- gaps = "idle gaps of which this is the largest part{, per step| in the recording}"
-- idle_ns = "{per step|in the recording}"
-- idle_pct = "of all idle time"
-- step_pct = "of {step time|the recording}; of several devices, of the step of each"
-- [headings]
-- idle_pct = "of idle"
-- step_pct = "of {step|recording}"
-- [fractions]
-- gaps = "gaps{/step| (mean)}"
WITH every AS (
    SELECT count(DISTINCT rank) AS n_ranks, sum(step_ns) AS step_ns FROM account
    HAVING count(*) = count(idle_ns)
)
SELECT cause, sum(n_gaps / per) / any_value(e.n_ranks) AS gaps,
    sum(idle_ns) / any_value(e.n_ranks) AS idle_ns,
    100.0 * sum(idle_ns) / nullif(sum(sum(idle_ns)) OVER (), 0) AS idle_pct,
    100.0 * sum(idle_ns) / nullif(any_value(e.step_ns), 0) AS step_pct
FROM idle_causes i, every e
GROUP BY cause
ORDER BY idle_ns DESC, cause
