-- title = "Comparable?"
-- doc = """Runs of the same model, batch, precision and passes are ranked, unless the same convolutions (without them
-- the same products and recurrent layers) compute more or less for each sample, by over 1 %: then the condition work is
-- listed too. A model that one of the two does not record is not known to be the same, and they are not ranked unless
-- both ran the same command; another condition that is not recorded cannot be checked and counts as equal. --accept
-- CONDITION ranks all the same."""
-- cannot = "There is only one run."
-- leave_out = ["detail"]
-- [columns]
-- run = "run"
-- condition = "what must be equal"
-- base_value = "of A"
-- value = "of the run"
-- verdict = """same, differs, differs (accepted), differs (options tried), not recorded, not recorded (accepted) or
-- not recorded (same command)"""
-- detail = """what only one of them has (a number in brackets is calls per pass), which of the two does not record it,
-- how much more or less is computed for each sample, or the options that were tried"""
SELECT p.label AS run, c.condition, c.base_value, c.value, c.verdict, c.detail
FROM condition c JOIN pair p USING (run)
ORDER BY p.run, c.position
