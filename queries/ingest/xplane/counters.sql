-- title = "XPlane: memory in use"
-- doc = """TensorFlow and XLA note the allocator's totals at every allocation. What is reserved is so beside what is
-- allocated: for the stack of a TPU."""
SELECT
    id + k AS id, start_ns, pid, TRY_CAST(regexp_extract(allocator_name, '^GPU_(\d+)_', 1) AS BIGINT) AS device,
    ['allocated_bytes', 'stack_reserved_bytes'][k + 1] AS name,
    CAST([bytes_allocated, nullif(bytes_reserved, 0)][k + 1] AS DOUBLE) AS value
FROM placed, range(2) t(k)
WHERE goes = 'counters' AND [bytes_allocated, nullif(bytes_reserved, 0)][k + 1] IS NOT NULL
