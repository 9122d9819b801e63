-- doc = """Most that was allocated at each moment of a step (phase, layer, operator), on the device where the peak is
-- largest: which of them is the peak depends on the batch."""
-- [columns]
-- moment = "phase, layer and operator that allocated"
-- moment_bytes = "most that was allocated after one of its allocations"
WITH top AS (
    FROM memory_peaks ORDER BY peak_bytes DESC, rank, device NULLS FIRST LIMIT 1
)
SELECT concat_ws(' ', a.phase, a.layer, a.op_name) AS moment, CAST(max(e.sum_bytes) AS DOUBLE) AS moment_bytes
FROM memory_events e JOIN top t ON t.rank = e.rank AND t.device IS NOT DISTINCT FROM e.device
JOIN allocations a ON a.id = e.id
WHERE e.bytes > 0 AND a.step IS NOT NULL AND a.op_name IS NOT NULL
GROUP BY moment
ORDER BY moment_bytes DESC, moment
