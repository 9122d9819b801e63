-- title = "Counts of denormals"
-- missing = """no trace holds values; traceview collect counts denormals of PyTorch on a CPU, perf stat -e
-- assists.fp the rest"""
SELECT EXISTS (FROM processes WHERE n_elements > 0)
