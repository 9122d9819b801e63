-- title = "Conditions side by side"
-- doc = """Framework, libraries, devices, machine and command of every run beside A's, as papers list them; what
-- neither records is left out. `traceview report RUN environment` has the whole list of one run."""
-- cannot = "There is only one run, or nothing of the conditions of any is recorded."
-- [columns]
-- run = "run"
-- condition = "what it is"
-- base_value = "of A"
-- value = "of the run"
-- is_same = "whether the two are equal; NULL where one of them is not recorded"
SELECT chr(CAST(65 + r.run AS INTEGER)) AS run, a.condition, coalesce(a.value, 'not recorded') AS base_value,
    coalesce(e.value, 'not recorded') AS value, a.value = e.value AS is_same
FROM run r JOIN environment e ON e.run = r.run JOIN environment a ON a.run = 0 AND a.condition = e.condition
WHERE r.run > 0 AND coalesce(a.value, e.value) IS NOT NULL
ORDER BY r.run, a.position
