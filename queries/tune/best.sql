-- title = "Best options together"
-- doc = "The options that were kept, and what each adds to all others: fresh pairs with it left out."
-- cannot = "No option was found to be worth keeping."
-- leave_out = ["shown"]
-- [headings]
-- adds = "times as fast as without it"
-- adds_interval = "95 % interval"
-- [columns]
-- option = "part of the combination"
-- adds = "step time of the best without this part over that with it"
-- adds_interval = "95 % interval of that"
-- together = "what the final pairs say of the whole combination against the base"
-- shown = "how many times as fast as the base it is, where they show that it is faster"
-- numbers = "what the part did to loss and parameters"
-- applied = "what it was seen to do in the process"
WITH whole AS (
    SELECT verdict || coalesce(format(', {:.2f} ({:.2f} to {:.2f})', speedup, low, high), '') AS together,
        if(verdict = 'faster', speedup, NULL) AS shown
    FROM raw.tune_options WHERE in_best ORDER BY kind <> 'combination' LIMIT 1
)
SELECT name AS option, adds,
    if(adds_low IS NULL, NULL, format('{:.2f} to {:.2f}', adds_low, adds_high)) AS adds_interval,
    whole.together, whole.shown, numbers, applied
FROM raw.tune_options, whole WHERE in_best AND kind = 'option'
ORDER BY adds DESC NULLS LAST, place
