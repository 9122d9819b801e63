-- title = "Collected runs: memory that was there before the recording, and what allocations hold"
-- doc = """Tensors that the collector saw in the same place when recording began and when it ended are rows (`noted`);
-- their bytes leave what a device held before. Allocations of which it saw the tensor have its kind and name."""
-- [params]
-- first = { type = "BIGINT", default = 1, doc = "number of the first row" }
WITH seen AS (
    SELECT kind, label, device, address, max(size_bytes) AS size_bytes, bool_or("at" = 'start') AS at_start,
        bool_or("at" = 'end') AS at_end
    FROM collected_tensor GROUP BY kind, label, device, address
), once AS (
    FROM seen QUALIFY row_number() OVER (PARTITION BY device, address, at_start, at_end ORDER BY kind, label) = 1
), kept AS (
    SELECT * FROM once s WHERE at_start AND at_end AND NOT EXISTS (FROM stage.allocations a
        WHERE a.address = s.address AND a.device IS NOT DISTINCT FROM s.device)
), noted AS (
    -- The allocator of a GPU counts whole 512 bytes.
    SELECT kind, label, device, address,
        CASE WHEN device IS NULL THEN size_bytes ELSE (size_bytes + 511) // 512 * 512 END AS size_bytes
    FROM kept
), more AS (
    SELECT device, sum(size_bytes) AS bytes FROM noted WHERE device IS NOT NULL GROUP BY device
), first AS (
    -- Where nothing is left of what was there before, a row takes what is too much.
    SELECT device, min(id) AS id FROM stage.allocations WHERE how = 'before' GROUP BY device
)
SELECT a.* REPLACE (coalesce(s.kind, e.kind) AS kind, coalesce(s.label, e.label) AS label,
    CAST(a.size_bytes - coalesce(m.bytes, 0) AS BIGINT) AS size_bytes,
    CASE WHEN a.size_bytes < m.bytes THEN 'difference' ELSE a.how END AS how)
FROM stage.allocations a
LEFT JOIN once s ON s.at_start AND s.address = a.address AND s.device IS NOT DISTINCT FROM a.device
    AND a.allocated_ns IS NULL
LEFT JOIN once e ON e.at_end AND NOT e.at_start AND e.address = a.address AND e.device IS NOT DISTINCT FROM a.device
    AND a.allocated_ns IS NOT NULL AND a.freed_ns IS NULL
LEFT JOIN first f ON f.id = a.id
LEFT JOIN more m ON m.device = f.device
WHERE a.size_bytes <> coalesce(m.bytes, 0)
UNION ALL BY NAME
SELECT $first - 1 + row_number() OVER (ORDER BY device NULLS FIRST, address) AS id,
    (SELECT any_value(pid) FROM stage.allocations) AS pid, device, address, size_bytes, 'noted' AS how, kind, label
FROM noted n
-- A device of which the recording holds no total has nothing that they would be part of.
WHERE device IS NULL OR EXISTS (FROM first f WHERE f.device = n.device)
