-- title = "Biases of convolutions in kernels of their own"
-- doc = "Biases of all convolutions, also of those before a batch normalisation."
-- gone = ["time", "launches"]
SELECT id, rank, start_ns AS at_ns, mean_ns AS counted_ns FROM counted WHERE category = 'bias' AND call_id IS NOT NULL
ORDER BY id, at_ns
