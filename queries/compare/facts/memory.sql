-- doc = """Largest value of every counter of bytes over the whole recording, on the rank and device where it is
-- largest, and of the sum of allocations."""
-- [columns]
-- counter = "counter, as recorded; `allocations` for the sum of allocations, with what was noted"
-- peak_bytes = "largest value"
-- memory_bytes = "memory of that device, or of the machine, where known"
WITH most AS (
    SELECT name AS counter, rank, device, CAST(value AS DOUBLE) AS peak_bytes
    FROM counters WHERE name LIKE '%\_bytes' ESCAPE '\'
    UNION ALL
    SELECT 'allocations', rank, device, CAST(peak_bytes AS DOUBLE) FROM memory_peaks
)
SELECT m.counter, max(m.peak_bytes) AS peak_bytes, arg_max(coalesce(d.memory_bytes, p.machine_bytes), m.peak_bytes)
    AS memory_bytes
FROM most m
LEFT JOIN raw.devices d ON d.rank = m.rank AND d.device = m.device
LEFT JOIN processes p ON p.rank = m.rank AND m.device IS NULL
GROUP BY m.counter
ORDER BY m.counter
