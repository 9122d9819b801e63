-- title = "Settings that differ"
-- doc = "Recorded settings only; those with equal values are left out."
-- cannot = """No setting that both runs record differs; `traceview collect` records threads, flags, environment and
-- versions."""
-- [columns]
-- run = "run"
-- kind = """device, option (torch.compile, and those tried in the process, see docs/options.md), threads, precision,
-- layout, batch, data, model, flag, version, environment, command, job or recording"""
-- setting = "setting, as the framework calls it"
-- base_value = "of A; NULL where it is not set"
-- value = "of the run"
-- can_explain = "whether such a setting changes how long a step takes"
SELECT chr(CAST(65 + run AS INTEGER)) AS run, kind, name AS setting, base_value, value, place IS NOT NULL AS can_explain
FROM differing
ORDER BY differing.run, place NULLS LAST, kind, name
