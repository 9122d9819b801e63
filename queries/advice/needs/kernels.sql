-- title = "Kernels"
-- missing = "the trace holds no kernels of a device"
SELECT EXISTS (FROM raw.kernels)
