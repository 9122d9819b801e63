-- title = "Perfetto: samples of counters"
-- doc = "Under the name of their track."
SELECT id, start_ns, pid, coalesce(thread, name) AS name, value FROM event WHERE ph = 'C'
