-- title = "Names of kernels with what was around them"
-- doc = "A summary that a profiler printed has names alone."
SELECT name, op_path, phase FROM raw.kernels
UNION
SELECT name, NULL, NULL FROM raw.events WHERE category = 'summary' AND start_ns IS NULL
