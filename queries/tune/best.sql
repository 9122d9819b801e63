-- title = "Best options together"
-- doc = "The options that were kept, and what each adds to all others: fresh pairs with it left out."
-- cannot = "No option was found to be worth keeping."
-- [headings]
-- adds = "times as fast as without it"
-- adds_interval = "95 % interval"
-- [columns]
-- option = "part of the combination"
-- adds = "step time of the best without this part over that with it"
-- adds_interval = "95 % interval of that"
-- together = "what the final pairs say of the whole combination against the base"
-- numbers = "what the part did to loss and parameters"
-- applied = "what it was seen to do in the process"
WITH whole AS (
    SELECT arg_max(verdict || coalesce(format(', {:.2f} ({:.2f} to {:.2f})', speedup, low, high), ''),
        kind = 'combination') AS together
    FROM raw.tune_options WHERE in_best
)
SELECT name AS option, adds,
    if(adds_low IS NULL, NULL, format('{:.2f} to {:.2f}', adds_low, adds_high)) AS adds_interval,
    whole.together, numbers, applied
FROM raw.tune_options, whole WHERE in_best AND kind = 'option'
ORDER BY adds DESC NULLS LAST, place
