-- title = "Alive at the peak, by kind"
-- doc = """Data that the memory held when most was allocated. The kind is noted by `traceview collect`, else guessed
-- from when memory was allocated and released (docs/memory.md)."""
-- cannot = "No allocations of a framework were recorded."
-- leave_out = ["pieces", "largest_bytes"]
-- [headings]
-- peak_pct = "of the peak"
-- guessed_pct = "of the size, guessed"
-- [columns]
-- rank = "process of the job"
-- device = "device number; empty for the host"
-- kind = "kind of data"
-- pieces = "number of allocations; memory without an event of its own is not counted"
-- size_bytes = "their bytes"
-- peak_pct = "of the device's peak"
-- guessed_pct = "of these bytes, of which the kind is a guess"
-- largest_bytes = "the largest of them"
SELECT rank, device, kind, count(*) FILTER (how NOT IN ('before', 'difference')) AS pieces,
    CAST(sum(size_bytes) AS BIGINT) AS size_bytes,
    100.0 * sum(size_bytes) / nullif(any_value(peak_bytes), 0) AS peak_pct,
    100.0 * coalesce(sum(size_bytes) FILTER (is_guessed), 0) / nullif(sum(size_bytes), 0) AS guessed_pct,
    max(size_bytes) AS largest_bytes
FROM alive_at_peak
GROUP BY rank, device, kind
ORDER BY rank, device, size_bytes DESC, kind
