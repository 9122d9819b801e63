-- title = "Calls that allocate or free device memory"
-- doc = "Freeing also waits for the device: that is part of the call."
-- gone = ["time", "waits"]
SELECT NULL AS id, g.rank, g.until_ns AS at_ns, g.allocation_ns / greatest(c.n_devices, 1) AS counted_ns
FROM idle_gaps g JOIN scope c ON c.rank = g.rank WHERE g.allocation_ns > 0
UNION ALL
SELECT id, rank, start_ns, 0 FROM blocking_calls WHERE cause = 'allocation'
ORDER BY id, at_ns
