-- title = "Autograd profiler: operators"
-- doc = "One span each on the threads of the CPU; the number of the event leads from a device's row to its operator."
SELECT id, id AS external_id, start_ns, dur_ns, pid, tid, name
FROM event
WHERE ph = 'X' AND pid = hash('CPU functions') >> 33 AND dur_ns IS NOT NULL AND start_ns IS NOT NULL
    AND range_kind(name) = 'nvtx'
