-- title = "Kineto: memory samples and counters"
-- doc = "`[memory]` instants carry the allocator's totals after the event."
-- [args]
-- "Total Allocated" = "DOUBLE"
-- "Total Reserved" = "DOUBLE"
-- "Device Type" = "BIGINT"
-- "Device Id" = "BIGINT"
SELECT
    id + k AS id, start_ns, pid,
    CASE WHEN args."Device Type" = 0 THEN NULL ELSE args."Device Id" END AS device,
    ['allocated_bytes', 'reserved_bytes'][k + 1] AS name,
    [args."Total Allocated", args."Total Reserved"][k + 1] AS value
FROM event, range(2) steps(k)
WHERE goes_to = 'counters'
    AND [args."Total Allocated", args."Total Reserved"][k + 1] IS NOT NULL
