-- title = "Perfetto: operators"
-- doc = "cpu_op events of PyTorch's profiler."
SELECT id, start_ns, dur_ns, pid, tid, name FROM event WHERE ph = 'X' AND dur_ns IS NOT NULL AND goes_to = 'ops'
