-- title = "What if"
-- doc = """The step with some durations changed, everything after what it waits for: another path may then be the
-- longest one. Not changed: what is launched, on which stream, and how long other things take. --what-if of advise, in
-- contrast, closes up the device's timeline."""
-- cannot = "There is no path."
-- kernels = ["what"]
-- [columns]
-- scenario = "what is changed"
-- what = "of which kernel, operator, category or layer"
-- step_ns = "the step as recorded"
-- changed_ns = "the step with the change"
-- saved_ns = "what that saves"
-- saved_pct = "of the step"
-- [headings]
-- saved_pct = "saved of step"
SELECT if(contains(scenario, ': '), regexp_extract(scenario, '^(.*?): ', 1), scenario) AS scenario,
    nullif(regexp_extract(scenario, '(?s)^.*?: (.*)$', 1), '') AS what, step_ns, changed_ns,
    step_ns - changed_ns AS saved_ns,
    100.0 * (step_ns - changed_ns) / nullif(step_ns, 0) AS saved_pct
FROM critical_scenario
ORDER BY step_ns - changed_ns DESC, scenario, what
