-- title = "Speed-up and efficiency"
-- doc = """Samples per second over those of the fewest ranks: with the same batch per rank (weak), or the same batch of
-- all ranks together (strong). From pairs of runs of one round; with three rounds an interval holds in 75 % of all
-- cases, with six in 97 %. Ideal is as many times as fast as there are ranks."""
-- cannot = "No scaling study in this capture: traceview study scaling -- torchrun --nproc_per_node {ranks} train.py"
-- leave_out = ["rounds", "samples_per_s", "why", "shared_cores"]
-- [chart]
-- kind = "curves"
-- panel = ["scaling"]
-- x = "ranks"
-- y = ["speedup", "efficiency_pct"]
-- line = "batch"
-- [headings]
-- speedup = "times as fast"
-- efficiency_pct = "efficiency of ideal"
-- shared_cores = "more than cores"
-- [columns]
-- scaling = "weak: the batch of a rank stays; strong: that of all ranks together"
-- batch = "of a rank (weak), of all ranks (strong)"
-- ranks = "processes"
-- step_ns = "of the slowest rank, median of the rounds"
-- samples_per_s = "of all ranks"
-- speedup = "samples per second over those of the fewest ranks"
-- interval = "of that, from pairs of one round; in brackets in how many of all cases such an interval holds"
-- efficiency_pct = "of the ideal, which is as many times as fast as there are ranks"
-- verdict = "faster, slower, no difference seen, too noisy, cannot decide, failed, base"
-- shared_cores = "whether there are more threads than cores"
-- rounds = "that the speed-up rests on"
-- why = "why, where the verdict needs it"
SELECT if(status = 'recorded', 'recorded, ', '') || mode AS scaling,
    if(mode = 'strong', global_batch, batch) AS batch, ranks, step_ns, samples_per_s, speedup,
    format('{:.2f} to {:.2f}', low, high) || coalesce(format(' ({:.0f} %)', 100 * confidence), '') AS interval,
    100 * speedup * base_ranks / ranks AS efficiency_pct, verdict, is_oversubscribed AS shared_cores, runs AS rounds,
    reason AS why
FROM raw.scaling_points WHERE status <> 'published'
ORDER BY scaling, batch, ranks, verdict, step_ns
