-- title = "A run on a CPU"
-- record = "a run on a CPU with ONEDNN_VERBOSE or traceview collect"
-- missing = "the trace holds no run on a CPU"
SELECT EXISTS (FROM counted WHERE rank NOT IN (SELECT rank FROM raw.kernels))
