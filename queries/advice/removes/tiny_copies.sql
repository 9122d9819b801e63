-- title = "Many tiny copies"
-- doc = "With the calls that start them and wait for them."
-- gone = ["time", "waits", "launches"]
-- [params]
-- tiny_below_bytes = { type = "BIGINT", default = 4096, doc = "a copy is tiny below this size" }
SELECT id, rank, start_ns AS at_ns, lost_ns AS counted_ns FROM host_copies WHERE size_bytes < $tiny_below_bytes
ORDER BY id, at_ns
