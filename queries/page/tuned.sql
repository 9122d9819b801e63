-- title = "Gain of each option"
-- doc = """Step time without the option over that with it, with its interval; at 1 there is no difference. A claim
-- rests on at least six pairs of fresh runs; the report tune has all of it."""
-- cannot = "No options were tried in this capture."
-- [chart]
-- kind = "intervals"
-- label = "option"
-- value = "speedup"
-- low = "low"
-- high = "high"
-- verdict = "verdict"
-- [columns]
-- option = "name of the option; of a combination its parts"
-- speedup = "step time without it over that with it"
-- low = "lower end of the interval of that"
-- high = "upper end"
-- verdict = "faster, slower, no difference seen, cannot decide ..."
-- pairs = "pairs of runs that it rests on"
SELECT name || if(kind = 'null', ' (the check)', '') AS option, speedup, low, high, verdict, pairs
FROM raw.tune_options WHERE speedup IS NOT NULL
ORDER BY kind = 'null', kind <> 'combination', speedup DESC, place
