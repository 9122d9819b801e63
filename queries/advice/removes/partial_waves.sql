-- title = "Last waves of blocks that leave cores idle"
-- doc = "They take no time; the rule counts the part of it in which places for blocks are empty."
-- gone = ["time"]
SELECT c.id, c.rank, c.start_ns AS at_ns, c.mean_ns AS counted_ns
FROM counted c JOIN waves w ON w.id = c.id WHERE w.waves > 1 AND w.in_last < w.n_cores
    AND c.id NOT IN (SELECT a.id FROM counted a JOIN op_calls m ON m.op_id = a.op_id
        WHERE m.call_id IN (SELECT op_id FROM unfused_attention))
ORDER BY id, at_ns
