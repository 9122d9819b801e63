-- title = "XPlane: memory in use"
-- doc = "TensorFlow notes the allocator's totals at every allocation."
SELECT
    id + k AS id, start_ns, pid, TRY_CAST(regexp_extract(allocator_name, '^GPU_(\d+)_', 1) AS BIGINT) AS device,
    ['allocated_bytes', 'reserved_bytes'][k + 1] AS name,
    CAST([bytes_allocated, bytes_reserved][k + 1] AS DOUBLE) AS value
FROM placed, range(2) t(k) WHERE goes = 'counters' AND [bytes_allocated, bytes_reserved][k + 1] IS NOT NULL
