-- title = "Calls in which the host waits for the device"
-- doc = "They take no time and wait for nothing."
-- gone = ["time", "waits"]
SELECT NULL AS id, g.rank, g.until_ns AS at_ns, g.synchronisation_ns / greatest(c.n_devices, 1) AS counted_ns
FROM idle_gaps g JOIN scope c ON c.rank = g.rank WHERE g.synchronisation_ns > 0
UNION ALL
SELECT id, rank, start_ns, 0 FROM blocking_calls WHERE cause = 'synchronisation'
ORDER BY id, at_ns
