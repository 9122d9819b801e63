-- title = "Primitives of a CPU library"
-- missing = "the trace holds no primitives of a CPU library (ONEDNN_VERBOSE, or traceview collect)"
SELECT EXISTS (FROM raw.primitives)
