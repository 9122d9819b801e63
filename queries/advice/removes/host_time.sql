-- title = "All that the host does for a device, but for its return from synchronisation"
-- doc = """Operators and calls, launches among them; waiting for the device stays. The rule counts idle time of the
-- device."""
-- gone = ["time"]
SELECT NULL AS id, g.rank, g.until_ns AS at_ns, g.launch_ns / greatest(c.n_devices, 1) AS counted_ns
FROM idle_gaps g JOIN scope c ON c.rank = g.rank WHERE g.launch_ns > 0
UNION ALL
SELECT id, rank, start_ns, 0 FROM critical_task
WHERE class = 1 AND NOT is_sync AND category <> 'data loading'
ORDER BY id, at_ns
