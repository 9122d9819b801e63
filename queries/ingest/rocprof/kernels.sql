-- title = "rocprof: kernels"
-- doc = "Kernels of the queues' table (OPS); those of A if OPS is empty."
-- into = "kernels"
-- tables = ["OPS", "A"]
SELECT id, start_ns, end_ns - start_ns AS dur_ns, device, stream, name
FROM op
WHERE NOT is_copy AND NOT is_lost
    AND ("table" = 'OPS' OR NOT EXISTS (FROM op WHERE "table" = 'OPS'))
