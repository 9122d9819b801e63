-- title = "Kernels that Inductor made in Triton"
-- doc = "All of them take no time: those that become faster are among them."
-- gone = ["time"]
SELECT id, rank, start_ns AS at_ns, mean_ns AS counted_ns FROM counted
WHERE kind = 'kernel' AND regexp_matches(name, '^triton_(poi|red|per|for)_')
ORDER BY id, at_ns
