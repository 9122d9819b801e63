-- title = "Elementwise operators that one kernel could do"
-- doc = """All that the view unfused_chains lists takes no time and is not launched: one kernel takes the place of
-- each chain."""
-- gone = ["time", "launches"]
WITH part AS (
    SELECT op_id FROM op_calls WHERE call_id IN (SELECT op_id FROM unfused_chains)
)
SELECT c.id, c.rank, c.start_ns AS at_ns, c.mean_ns AS counted_ns FROM counted c SEMI JOIN part p ON p.op_id = c.op_id
ORDER BY c.id, at_ns
