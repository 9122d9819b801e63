-- title = "nsys stats CSV: calls into the runtime and the driver"
-- doc = "Rows of cuda_api_trace."
SELECT id, start_ns, dur_ns, pid, tid, name, correlation,
    CASE WHEN name LIKE 'cuda%' THEN 'runtime' WHEN name LIKE 'cu%' THEN 'driver' END AS kind
FROM activity
