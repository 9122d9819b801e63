-- title = "Primitives of a CPU library"
-- record = "a run on a CPU with ONEDNN_VERBOSE or traceview collect"
-- missing = "the trace holds no primitives of a CPU library (ONEDNN_VERBOSE, or traceview collect)"
SELECT EXISTS (FROM raw.primitives)
