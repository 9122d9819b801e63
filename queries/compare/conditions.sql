-- title = "Comparable?"
-- doc = """Runs of the same model, batch, precision and passes are ranked. What a trace does not record cannot be
-- checked, counts as equal and is listed below; --accept CONDITION ranks although it differs."""
-- cannot = "There is only one run."
-- leave_out = ["detail"]
-- [columns]
-- run = "run"
-- condition = "what must be equal"
-- base_value = "of A"
-- value = "of the run"
-- verdict = "same, differs, differs (accepted), differs (options tried) or not recorded"
-- detail = "what only one of them has (a number in brackets is calls per step), or the options that were tried"
SELECT p.label AS run, c.condition, c.base_value, c.value, c.verdict, c.detail
FROM condition c JOIN pair p USING (run)
ORDER BY p.run, c.position
