-- title = "Autograd profiler: operators whose time on a device is known, not their kernels"
-- doc = "nvprof's kernels have names of their own; what events measured has that of its operator."
SELECT count(DISTINCT external_id) FROM stage.kernels WHERE name = recorded_op
