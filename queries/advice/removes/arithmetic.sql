-- title = "Kernels of convolutions and products"
-- doc = "All of them take no time: those that become faster are among them, and none becomes faster than that."
-- gone = ["time"]
SELECT id, rank, start_ns AS at_ns, mean_ns AS counted_ns FROM counted
WHERE kind = 'kernel' AND (category IN ('conv', 'gemm') OR call_id IS NOT NULL)
ORDER BY id, at_ns
