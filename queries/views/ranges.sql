-- doc = "One named span on the host: step, phase, module, NVTX range, Python function, other annotation."
SELECT *, start_ns + dur_ns AS end_ns FROM raw.ranges
