-- title = "Environment and configuration"
-- doc = """`traceview collect` and the experiments note most of it; of a trace from elsewhere only what the trace says.
-- `--format markdown` makes a table for a paper."""
-- [columns]
-- condition = "what it is"
-- value = "its value, or not recorded"
-- recorded_by = "who recorded it"
SELECT condition, coalesce(value, 'not recorded') AS value, recorded_by FROM environment
WHERE value IS NOT NULL OR condition NOT IN ('library', 'publication', 'governor', 'NUMA nodes')
ORDER BY position
