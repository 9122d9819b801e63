-- title = "Attention in several kernels"
-- doc = "All that the view unfused_attention lists takes no time: one kernel takes its place, and none takes less."
-- gone = ["time"]
WITH part AS (
    SELECT op_id FROM op_calls WHERE call_id IN (SELECT op_id FROM unfused_attention)
)
SELECT c.id, c.rank, c.start_ns AS at_ns, c.mean_ns AS counted_ns FROM counted c SEMI JOIN part p ON p.op_id = c.op_id
ORDER BY c.id, at_ns
