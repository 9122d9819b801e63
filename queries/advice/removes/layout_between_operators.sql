-- title = "Layout conversions between operators"
-- doc = "Kernels and primitives of the rule of that name."
-- gone = ["time", "launches"]
SELECT id, rank, start_ns AS at_ns, mean_ns AS counted_ns FROM loose_conversions WHERE has_place
ORDER BY id, at_ns
