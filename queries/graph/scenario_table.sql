-- title = "The scenarios' answers"
-- doc = "None yet: the step as the graph has it, and with the change."
SELECT CAST(NULL AS VARCHAR) AS scenario, CAST(NULL AS BIGINT) AS step_ns, CAST(NULL AS BIGINT) AS changed_ns
WHERE false
