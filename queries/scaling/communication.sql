-- title = "Communication, and what hides it"
-- doc = """From recordings of some steps, mean of the ranks; the step includes what the profiler adds. Exposed is
-- communication while nothing computes on the rank. If all of it were hidden, the step without a profiler would be
-- shorter by the same share at most: an upper bound."""
-- cannot = "No recording of steps in this capture (study scaling --no-captures), or no scaling study."
-- leave_out = ["library", "wait_ns", "calls", "parameters", "ratio", "others_pct"]
-- [headings]
-- exposed_pct = "exposed of {step|recording}"
-- hidden_pct = "hidden of communication"
-- ratio = "communication over the rest"
-- hidden_speedup = "times as fast if hidden"
-- others_pct = "others, of the cores"
-- parameter_bytes = "parameters as float32"
-- [fractions]
-- calls = "calls{/step| (mean)}"
-- [columns]
-- scaling = "weak or strong"
-- batch = "of a rank (weak), of all ranks (strong)"
-- ranks = "processes"
-- step_ns = "while it was recorded"
-- communication_ns = "time in which some was under way"
-- exposed_ns = "of it while nothing computed"
-- exposed_pct = "of the {step|recording}"
-- hidden_pct = "of the communication, while the rank computed"
-- ratio = "communication over the step without what of it is exposed"
-- wait_ns = "of the calls, until the last rank came"
-- transfer_ns = "of the calls, the rest"
-- calls = "of a rank in a step"
-- gradient_bytes = "that a rank gives into them in a step"
-- parameters = "of the model"
-- parameter_bytes = "of them as 32-bit numbers: what gradients take that are sent once"
-- algorithm_bytes_per_s = "gradient bytes over the transfer"
-- bus_bytes_per_s = "what a ring would move over each link: 2 (n - 1) / n times that"
-- hidden_speedup = "times as fast as the fewest ranks, at most, if none were exposed"
-- others_pct = "share of the cores that other programs took while it was recorded; from 10 % on it says little"
-- library = "gloo, nccl ..."
-- why = "why there is no recording"
SELECT e.mode AS scaling, if(e.mode = 'strong', e.global_batch, e.batch) AS batch, e.ranks, e.step_ns,
    e.communication_ns, e.exposed_ns, 100.0 * e.exposed_ns / nullif(e.step_ns, 0) AS exposed_pct,
    100.0 * (e.communication_ns - e.exposed_ns) / nullif(e.communication_ns, 0) AS hidden_pct,
    e.communication_ns / nullif(e.step_ns - e.exposed_ns, 0) AS ratio, e.wait_ns, e.transfer_ns, e.calls,
    e.gradient_bytes, e.parameters, 4 * e.parameters AS parameter_bytes,
    if(e.ranks > 1, 1e9 * e.gradient_bytes / nullif(e.transfer_ns, 0), NULL) AS algorithm_bytes_per_s,
    if(e.ranks > 1, 2.0 * (e.ranks - 1) / e.ranks * 1e9 * e.gradient_bytes / nullif(e.transfer_ns, 0), NULL)
        AS bus_bytes_per_s,
    if(p.verdict IN ('faster', 'slower', 'no difference seen'), round(p.speedup / nullif(1.0 - e.exposed_ns
        / nullif(e.step_ns, 0), 0), 3), NULL) AS hidden_speedup,
    e.others_pct, e.library, e.reason AS why
FROM raw.scaling_exchanges e
LEFT JOIN raw.scaling_points p ON p.status <> 'published' AND p.mode = e.mode AND p.ranks = e.ranks
    AND p.batch IS NOT DISTINCT FROM e.batch AND p.global_batch IS NOT DISTINCT FROM e.global_batch
ORDER BY scaling, batch, e.ranks, why
