-- title = "Perfetto: operators"
-- doc = "What PyTorch's profiler calls cpu_op."
SELECT id, start_ns, dur_ns, pid, tid, name FROM event WHERE ph = 'X' AND dur_ns IS NOT NULL AND goes_to = 'ops'
