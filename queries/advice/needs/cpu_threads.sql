-- title = "Threads and cores of a run on a CPU"
-- record = "a run on a CPU with ONEDNN_VERBOSE or traceview collect"
-- missing = "the trace holds no run on a CPU whose threads and cores are recorded (traceview collect notes them)"
SELECT EXISTS (FROM processes WHERE threads IS NOT NULL AND cores IS NOT NULL
    AND rank NOT IN (SELECT rank FROM raw.kernels))
