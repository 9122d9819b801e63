-- title = "Why"
-- doc = """Idle time inside the {steps|recording} by what the host did meanwhile; the causes add up to it. What was in
-- progress comes first: loading data, then allocating, communicating, capturing a graph, waiting for the device. A gap
-- is the host's where the host had not yet launched what comes next, and most of the gap, or all but 0.1 ms of it, was
-- over when it had; of others waiting counts until then. The rest is synchronisation where the gap is the host's, which
-- was waiting when the device ran dry, else between steps where it reaches over the edge of a step, else launch where
-- the gap is the host's, else unknown."""
-- cannot = "No device was idle, nothing ran on one, or no time stamps tell when."
-- leave_out = ["longest_ns"]
-- [columns]
-- rank = "process of the job"
-- device = "device"
-- cause = "why"
-- gaps = "idle gaps of which this is the largest part{, per step| in the recording}"
-- idle_ns = "{per step|in the recording}"
-- idle_pct = "of the idle time of the device"
-- step_pct = "of the {step|recording}"
-- longest_ns = "longest gap of which this is the largest part"
-- [headings]
-- idle_pct = "of idle"
-- step_pct = "of {step|recording}"
-- [fractions]
-- gaps = "gaps{/step| (mean)}"
SELECT rank, device, cause, n_gaps / per AS gaps, idle_ns, idle_pct, step_pct, longest_ns
FROM idle_causes
ORDER BY rank, device, idle_ns DESC, cause
