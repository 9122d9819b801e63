-- title = "Names of kernels with what was around them"
-- doc = "Of a summary that a profiler printed, the names alone."
SELECT name, op_path, phase FROM raw.kernels
UNION
SELECT name, NULL, NULL FROM raw.events WHERE category = 'summary' AND start_ns IS NULL
