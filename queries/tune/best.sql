-- title = "The best together"
-- doc = "The options that were kept, and what each added to the parts before it."
-- cannot = "No option was found to be worth keeping."
-- [headings]
-- adds = "times as fast when added"
-- [columns]
-- option = "part of the combination"
-- adds = "speed-up when it was added to the parts before it, from a few pairs: an estimate without an interval"
-- together = "what the final pairs say of the whole combination against the base"
-- numbers = "what the part did to loss and parameters"
-- applied = "what it was seen to do in the process"
WITH whole AS (
    SELECT arg_max(verdict || coalesce(format(', {:.2f} ({:.2f} to {:.2f})', speedup, low, high), ''),
        kind = 'combination') AS together
    FROM raw.tune_options WHERE in_best
)
SELECT name AS option, round(adds, 3) AS adds, whole.together, numbers, applied
FROM raw.tune_options, whole WHERE in_best AND kind = 'option'
ORDER BY adds DESC NULLS LAST, place
