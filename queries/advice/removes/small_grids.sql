-- title = "Kernels with fewer blocks than the device has cores"
-- doc = "They take no time; the rule counts the part of it in which cores are idle."
-- gone = ["time", "launches"]
SELECT c.id, c.rank, c.start_ns AS at_ns, c.mean_ns AS counted_ns
FROM counted c JOIN raw.kernels k ON k.id = c.id JOIN raw.devices d ON d.rank = k.rank AND d.device = k.device
WHERE c.kind = 'kernel' AND c.category <> 'communication' AND 1.0::DOUBLE * k.grid_x * k.grid_y * k.grid_z < d.n_cores
    AND least(k.grid_x, k.grid_y, k.grid_z) > 0
ORDER BY id, at_ns
