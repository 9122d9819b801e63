-- title = "By device"
-- doc = """{Per step|In the recording}: active is the union over the device's streams, and active and idle add up to
-- the {step|recording}.{ Without steps the whole recording counts as one.|}"""
-- cannot = "No work of a device was found in this trace."
-- leave_out = ["between_ns", "longest_ns", "gaps", "steps"]
-- [columns]
-- rank = "process of the job"
-- device = "device"
-- steps = "steps counted; 0 where the whole recording is"
-- step_ns = "mean step time, or the whole recording"
-- active_ns = "{per step|in the recording}, the device did something"
-- idle_ns = "{per step|in the recording}, it did nothing; not known where the log has no time stamps"
-- idle_pct = "of the {step|recording}"
-- gaps = "idle gaps {per step|in the recording}"
-- longest_ns = "the longest of all"
-- between_ns = "time between two steps{, per step| in the recording}; neither active nor idle time of a step"
-- [headings]
-- idle_pct = "idle of {step|recording}"
-- [fractions]
-- gaps = "gaps{/step| (mean)}"
SELECT a.rank, a.device, a.n_steps AS steps, a.step_ns, a.active_ns, a.idle_ns, a.idle_pct,
    if(a.idle_ns IS NULL, NULL, coalesce(g.gaps / a.per, 0)) AS gaps,
    if(a.idle_ns IS NULL, NULL, g.longest_ns) AS longest_ns, a.between_ns
FROM account a
LEFT JOIN (
    SELECT rank, device, sum(n_gaps) AS gaps, max(longest_ns) AS longest_ns FROM idle_totals GROUP BY rank, device
) g ON g.rank = a.rank AND g.device = a.device
ORDER BY a.rank, a.device
