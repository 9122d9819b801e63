-- title = "The gradient of the network's input"
-- doc = "All of it, with the copy to the host."
-- gone = ["time", "launches"]
SELECT id, rank, start_ns AS at_ns, rank_alone_ns AS counted_ns FROM counted
WHERE id IN (SELECT id FROM input_gradients WHERE is_data)
ORDER BY id, at_ns
