-- title = "Autograd profiler: devices"
-- doc = "Known by number only."
INSERT INTO stage.devices BY NAME SELECT DISTINCT device, 'gpu' AS kind FROM stage.kernels
