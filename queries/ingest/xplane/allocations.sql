-- title = "XPlane: allocations and releases"
-- doc = """A note of the allocator has a row, with bytes below zero for a release; `label` is the allocator, each with
-- totals of its own, and `call_stack` the operator that TensorFlow says was running, until they are paired when all of
-- the file has been read (`kineto/allocations_paired`)."""
SELECT id + 2 AS id, pid, line_id AS tid,
    TRY_CAST(regexp_extract(allocator_name, '^GPU_(\d+)_', 1) AS BIGINT) AS device,
    addr AS address, if(name = 'MemoryDeallocation', -allocation_bytes, allocation_bytes) AS size_bytes,
    if(requested_bytes > 0, requested_bytes, NULL) AS asked_bytes,
    start_ns AS allocated_ns, 'recorded' AS how, coalesce(allocator_name, '') AS label,
    nullif(noted, '') AS call_stack
FROM placed
-- Sums of more would leave what a double of the totals holds.
WHERE goes = 'counters' AND name IN ('MemoryAllocation', 'MemoryDeallocation') AND addr IS NOT NULL
    AND allocation_bytes BETWEEN 1 AND 1125899906842624
