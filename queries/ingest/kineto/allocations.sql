-- title = "Kineto: allocations and releases"
-- doc = """A `[memory]` instant has a row, with bytes below zero for a release; they are paired when the file has been
-- read. Its arguments are looked up by path: DuckDB takes `Bytes` for the `bytes` of copies."""
SELECT id + 2 AS id, pid, tid, device, address, size_bytes, start_ns AS allocated_ns, 'recorded' AS how
FROM (
    SELECT id, pid, tid, start_ns, CASE WHEN args."Device Type" = 0 THEN NULL ELSE args."Device Id" END AS device,
        TRY_CAST(said[1] AS BIGINT) AS address, TRY_CAST(said[2] AS BIGINT) AS size_bytes
    FROM (
        SELECT *, TRY(json_extract_string(line, ['$.args.Addr', '$.args.Bytes'])) AS said
        FROM event WHERE goes_to = 'counters'
    )
)
-- Sums of more would leave what a double of the totals holds.
WHERE address IS NOT NULL AND size_bytes <> 0 AND size_bytes BETWEEN -1125899906842624 AND 1125899906842624
