-- title = "Loading data"
-- doc = "Marked phases and operators in them; the rule counts idle time of a device, without one all of the loading."
-- gone = ["time", "loading"]
SELECT NULL AS id, g.rank, g.until_ns AS at_ns, g.data_ns / greatest(c.n_devices, 1) AS counted_ns
FROM idle_gaps g JOIN scope c ON c.rank = g.rank WHERE g.data_ns > 0
UNION ALL
SELECT NULL, rank, start_ns, dur_ns FROM awaited_data WHERE rank NOT IN (SELECT rank FROM raw.kernels)
UNION ALL
SELECT id, rank, start_ns, 0 FROM critical_task WHERE category = 'data loading'
ORDER BY id, at_ns
