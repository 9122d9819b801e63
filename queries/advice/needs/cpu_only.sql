-- title = "A run on a CPU"
-- missing = "the trace holds no run on a CPU"
SELECT EXISTS (FROM counted WHERE rank NOT IN (SELECT rank FROM raw.kernels))
