-- title = "Last waves of blocks that leave cores idle"
-- doc = "They take no time; the rule counts the part of it in which places for blocks are empty."
-- gone = ["time"]
SELECT c.id, c.rank, c.start_ns AS at_ns, c.mean_ns AS counted_ns
FROM counted c JOIN waves w ON w.id = c.id WHERE w.waves > 1 AND w.in_last < w.n_cores
    AND coalesce(c.op_id NOT IN (
        SELECT op_id FROM op_calls WHERE call_id IN (SELECT op_id FROM unfused_attention)), true)
ORDER BY id, at_ns
