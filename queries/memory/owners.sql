-- title = "Alive at the peak, by owner"
-- doc = "Layers, operators and lines that allocated what was alive when most was allocated, the largest first."
-- cannot = "No allocations of a framework were recorded."
-- leave_out = ["line", "phase", "pieces"]
-- top = 20
-- rest = ["pieces", "size_bytes"]
-- [headings]
-- peak_pct = "of the peak"
-- [columns]
-- rank = "process of the job"
-- device = "device number; empty for the host"
-- kind = "kind of data"
-- owner = "layer; of noted tensors their name, of XLA the program; (before the recording) for what has no event"
-- op = "operator that allocated it"
-- phase = "its phase"
-- line = "line of the user's own code"
-- pieces = "allocations"
-- size_bytes = "their bytes"
-- peak_pct = "of the device's peak"
SELECT rank, device, kind,
    CASE how WHEN 'before' THEN '(before the recording)' WHEN 'difference' THEN '(without an event)'
        ELSE coalesce(label, layer, program, if(allocated_ns IS NULL, '(before the recording)', NULL)) END AS owner,
    op_name AS op, phase, file || ':' || CAST(line AS VARCHAR) AS line,
    count(*) FILTER (how NOT IN ('before', 'difference')) AS pieces, CAST(sum(size_bytes) AS BIGINT) AS size_bytes,
    100.0 * sum(size_bytes) / nullif(any_value(peak_bytes), 0) AS peak_pct
FROM alive_at_peak
GROUP BY ALL
ORDER BY rank, device, size_bytes DESC, kind, owner, op, phase, line
