-- title = "Autograd profiler: rows of devices as spans"
-- doc = "Times twice, as those of the edges."
SELECT id, device AS thread, 2 * start_ns AS start_ns, 2 * (start_ns + dur_ns) AS end_ns
FROM stage.kernels ORDER BY device, start_ns, dur_ns DESC, id
