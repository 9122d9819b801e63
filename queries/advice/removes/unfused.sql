-- title = "Biases and activations in kernels of their own"
-- doc = "Rows of the view unfused: fused, each is part of another kernel."
-- gone = ["time", "launches"]
SELECT id, rank, start_ns AS at_ns, rank_alone_ns AS counted_ns FROM unfused
ORDER BY id, at_ns
