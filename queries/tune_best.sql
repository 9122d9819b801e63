-- title = "The options of the best combination"
-- doc = "Names of the options that are part of it, where final pairs showed it, or the only part, to be faster."
SELECT name FROM raw.tune_options
WHERE kind = 'option' AND in_best AND (SELECT arg_max(verdict, kind = 'combination') = 'faster'
    FROM raw.tune_options WHERE in_best)
ORDER BY place
