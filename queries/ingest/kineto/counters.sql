-- title = "Kineto: memory samples and counters"
-- doc = "`[memory]` instants carry the allocator's totals after the event."
SELECT
    id + k AS id, start_ns, pid,
    CASE WHEN args."Device Type" = '0' THEN NULL ELSE TRY_CAST(args."Device Id" AS BIGINT) END AS device,
    ['allocated_bytes', 'reserved_bytes'][k + 1] AS name,
    TRY_CAST([args."Total Allocated", args."Total Reserved"][k + 1] AS DOUBLE) AS value
FROM event, range(2) steps(k)
WHERE name = '[memory]' AND start_ns IS NOT NULL
    AND [args."Total Allocated", args."Total Reserved"][k + 1] IS NOT NULL
