-- title = "Forward operators that run again"
-- doc = "All that calls of op_floors do that are recomputed: kept results need neither their time nor their launches."
-- gone = ["time", "launches"]
WITH part AS (
    SELECT op_id FROM op_calls WHERE call_id IN (SELECT op_id FROM op_floors WHERE is_recompute)
)
SELECT c.id, c.rank, c.start_ns AS at_ns, c.mean_ns AS counted_ns FROM counted c SEMI JOIN part p ON p.op_id = c.op_id
ORDER BY c.id, at_ns
