-- title = "Predicted bound and measured speed-up"
-- doc = """Per step of the base without a profiler: the time that a rule of advice says could be saved at most, and the
-- time that its option saved. A bound within a factor of 1.5 of the gain is a good prediction."""
-- brief = ""
-- cannot = "No option with a bound has a measured gain."
-- [headings]
-- bound_ns = "could be saved"
-- gained_ns = "was saved"
-- times = "bound over gain"
-- speedup_times = "the same of speed-ups"
-- named_by = "named by"
-- [columns]
-- option = "name of the option"
-- named_by = "the advice rule, or the rules together, that named it"
-- bound_ns = "time of a step that could be saved at most"
-- gained_ns = "time of a step that was saved; below 0 where it became slower"
-- times = "how many times as large the bound is; none where nothing was saved"
-- bound = "the bound as a speed-up of the step"
-- speedup = "the speed-up that was measured"
-- speedup_times = "the larger of both speed-ups over the smaller"
-- pairs = "pairs of runs that the speed-up rests on"
WITH step AS (
    SELECT median(step_ns) AS step_ns FROM raw.tune_runs WHERE options = ''
)
SELECT name AS option, rule AS named_by, CAST(step_ns * (1 - 1 / bound) AS BIGINT) AS bound_ns,
    CAST(step_ns * (1 - 1 / speedup) AS BIGINT) AS gained_ns,
    round(CASE WHEN speedup > 1 THEN (1 - 1 / bound) / (1 - 1 / speedup) END, 2) AS times,
    round(bound, 2) AS bound, round(speedup, 2) AS speedup,
    round(greatest(bound / speedup, speedup / bound), 2) AS speedup_times, pairs
FROM raw.tune_options, step
WHERE bound > 1 AND speedup > 0
ORDER BY bound_ns DESC, place
