-- title = "Copies between host and device"
-- doc = "All of that size: which of them are of tensors that come back is within these."
-- gone = ["time", "waits", "launches"]
-- [params]
-- repeated_from_bytes = { type = "BIGINT", default = 4096, doc = "only copies of at least this size" }
SELECT id, rank, start_ns AS at_ns, own_ns AS counted_ns FROM host_copies WHERE size_bytes >= $repeated_from_bytes
ORDER BY id, at_ns
