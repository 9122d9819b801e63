-- title = "Copies from or to pageable memory"
-- doc = "With the calls that start them and wait for them."
-- gone = ["time", "waits", "launches"]
-- [params]
-- pageable_from_bytes = { type = "BIGINT", default = 4096, doc = "only copies of at least this size" }
SELECT id, rank, start_ns AS at_ns, lost_ns AS counted_ns FROM host_copies
WHERE size_bytes >= $pageable_from_bytes AND host_kind = 'pageable'
ORDER BY id, at_ns
