-- title = "Gain of each option"
-- doc = """One row per option; a claim rests on at least six pairs of fresh runs on a quiet machine and counts all
-- options that were tried (Holm). If `nothing` (a change of nothing) makes a difference, nothing is claimed."""
-- brief = ""
-- leave_out = ["cost", "why", "cpu_speedup", "named_by", "pairs"]
-- cannot = "No options were tried in this capture: traceview tune -- python train.py"
-- [headings]
-- speedup = "times as fast"
-- bound = "advice's bound"
-- named_by = "named by"
-- cpu_speedup = "in processor time"
-- [columns]
-- option = "name of the option; of the best combination its parts"
-- speedup = "step time without it over that with it"
-- interval = "95 % interval of that; none below six pairs"
-- verdict = "faster, slower, no difference seen, cannot decide, too noisy, dropped, not tried, failed, not applicable"
-- bound = "the speed-up that the advice rule allows at most, and whether the one measured reached it, shown or not"
-- named_by = "the advice rule that named the option"
-- numbers = "loss and parameters after equal steps and seeds: equal, close, changed (largest difference), not seen"
-- cpu_speedup = "the same ratio of processor times, which other programs disturb less"
-- pairs = "pairs of runs that the speed-up rests on"
-- why = "why it was dropped or left out of the best, failed, does not apply, or cannot be decided"
-- cost = "what the option costs"
SELECT name || if(kind = 'null', ' (the check)', '') AS option, speedup,
    if(low IS NULL, NULL, format('{:.2f} to {:.2f}', low, high)) AS interval,
    verdict,
    if(bound IS NULL, NULL, format('{:.2f}', bound) || coalesce(', ' || bound_judged, '')) AS bound,
    rule AS named_by,
    numbers || if(numbers IN ('close', 'changed'),
        coalesce(format(' ({:.0e})', greatest(loss_difference, parameters_difference)),
            ' (NaN, infinite or not comparable)'), '') AS numbers,
    cpu_speedup, pairs, coalesce(left_out, reason) AS why, cost
FROM raw.tune_options
ORDER BY kind = 'null', verdict = 'not applicable', verdict = 'not tried', verdict IN ('failed', 'dropped'),
    kind != 'combination', speedup DESC NULLS LAST, place
