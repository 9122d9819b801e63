-- title = "rocprof JSON: kernels"
-- doc = "Work on a device's queue that is neither a copy nor a fill."
SELECT id, begin_ns AS start_ns, end_ns - begin_ns AS dur_ns, device, stream, name
FROM exact WHERE device IS NOT NULL AND NOT is_copy
