-- doc = """Samples of the allocator's total that the sum of all allocations then alive differs from. What the collector
-- noted of the host's memory is beside that total."""
-- [columns]
-- total_bytes = "as recorded"
-- sum_bytes = "of the allocations alive then"
WITH event AS (
    SELECT rank, pid, device, allocated_ns AS at_ns, id, size_bytes AS bytes, CAST(NULL AS DOUBLE) AS total_bytes
    FROM allocations WHERE NOT (how = 'noted' AND device IS NULL)
    UNION ALL
    SELECT rank, pid, device, freed_ns, freed_id, -size_bytes, NULL FROM allocations
    WHERE freed_id IS NOT NULL AND NOT (how = 'noted' AND device IS NULL)
    UNION ALL
    -- A sample has the first number of its event, what it is of the others.
    SELECT rank, pid, device, start_ns, id + 3, 0, value FROM counters c
    WHERE name = 'allocated_bytes' AND EXISTS (FROM allocations a WHERE a.rank = c.rank
        AND a.pid IS NOT DISTINCT FROM c.pid AND a.device IS NOT DISTINCT FROM c.device)
), summed AS (
    SELECT *, sum(bytes) OVER (PARTITION BY rank, pid, device ORDER BY at_ns NULLS FIRST, id) AS sum_bytes FROM event
)
SELECT rank, device, at_ns, total_bytes, CAST(sum_bytes AS BIGINT) AS sum_bytes
FROM summed WHERE total_bytes <> sum_bytes
ORDER BY rank, device, at_ns
