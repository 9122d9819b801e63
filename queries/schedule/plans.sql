-- title = "The plan and what it is compared with"
-- doc = """Convolutions alone: the sum of measured passes. The speed-up of whole training steps is from pairs of fresh
-- processes; if they do not show that the plan is faster, it is emptied. Without pairs the plan is not proved."""
-- cannot = "No plan in this capture. `traceview schedule ... -o FOLDER --resume` continues a stopped one."
-- top = 12
-- leave_out = ["noisy_pairs", "pairs"]
-- [headings]
-- modelled_speedup = "times as fast"
-- step_speedup = "whole step, times as fast"
-- [columns]
-- name = "the plan; PyTorch's own; or one algorithm wherever it can run, and PyTorch's own elsewhere"
-- convolutions_ns = "time of all passes of all convolutions"
-- modelled_speedup = "PyTorch's own on plain NCHW over this"
-- step_speedup = "step time without the plan over that with it"
-- interval = "95 % interval of that; none below six pairs"
-- pairs = "pairs of fresh processes"
-- noisy_pairs = "of these, pairs in which other programs took a tenth of the cores"
-- verdict = "faster, slower, no difference seen, cannot decide, not proved end to end"
SELECT name, convolutions_ns, round(modelled_speedup, 3) AS modelled_speedup, round(speedup, 3) AS step_speedup,
    if(low IS NULL, NULL, format('{:.2f} to {:.2f}', low, high)) AS interval, pairs, noisy_pairs, verdict
FROM raw.schedule_plans
ORDER BY name != 'the plan', name != 'PyTorch''s own, nchw', convolutions_ns, name
