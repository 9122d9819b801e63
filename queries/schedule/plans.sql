-- title = "The plan and its baselines"
-- doc = """Convolutions alone: the sum of measured passes and layout conversions, for the plan of what is left of it; a
-- single algorithm counts whatever its error and workspace. The speed-up of whole steps is from rounds of fresh
-- processes; if they show no difference, the plan is emptied. Without them, or on a machine too busy to tell, it is not
-- proved."""
-- cannot = "No plan in this capture. `traceview schedule ... -o FOLDER --resume` continues a stopped one."
-- top = 12
-- leave_out = ["noisy_pairs", "pairs", "clock"]
-- [headings]
-- modelled_speedup = "times as fast"
-- step_speedup = "whole step, times as fast"
-- [columns]
-- name = "the plan; PyTorch's own; or one algorithm wherever it can run, and PyTorch's own elsewhere"
-- convolutions_ns = "time of all passes of all convolutions, layout conversions included"
-- modelled_speedup = "PyTorch's own on plain NCHW over this"
-- step_speedup = "step time, by the clock of that column, without the plan over that with it"
-- interval = "95 % interval of that; none below six pairs"
-- pairs = "rounds of fresh processes, one with the plan and two without it, that count"
-- noisy_pairs = "rounds in which other programs took a tenth of the cores"
-- clock = "times that were compared: wall, or processor (one thread, on a busy machine)"
-- verdict = "faster, slower, no difference seen, cannot decide, too noisy, not proved end to end"
SELECT name, convolutions_ns, modelled_speedup, speedup AS step_speedup,
    if(low IS NULL, NULL, format('{:.2f} to {:.2f}', low, high)) AS interval, pairs, noisy_pairs, clock, verdict
FROM raw.schedule_plans
ORDER BY name != 'the plan', name != 'PyTorch''s own, nchw', convolutions_ns, name
