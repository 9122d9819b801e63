-- title = "Autograd profiler: marks of the program"
-- doc = "PyTorch's marks of steps, optimizers and loaders, told by their names as everywhere."
SELECT id, start_ns, dur_ns, pid, tid, range_kind(name) AS kind, range_name(name) AS name
FROM event
WHERE ph = 'X' AND pid = hash('CPU functions') >> 33 AND dur_ns IS NOT NULL AND start_ns IS NOT NULL
    AND range_kind(name) <> 'nvtx'
