-- title = "Kernels for data that are not aligned"
-- doc = "They take no time; the rule leaves them the least that the device allows."
-- gone = ["time"]
SELECT id, rank, start_ns AS at_ns, mean_ns AS counted_ns FROM unaligned_kernels
ORDER BY id, at_ns
