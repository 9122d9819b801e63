-- record = "a run on a GPU with its runtime calls"
-- missing = "the trace holds no kernels of a device"
SELECT EXISTS (FROM raw.kernels)
