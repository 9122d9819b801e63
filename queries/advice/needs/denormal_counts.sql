-- title = "Counts of denormals"
-- record = "a run on a CPU with ONEDNN_VERBOSE or traceview collect"
-- missing = """traces do not hold values; traceview collect counts denormals for PyTorch on a CPU, elsewhere use perf
-- stat -e assists.fp"""
SELECT EXISTS (FROM processes WHERE n_elements > 0)
