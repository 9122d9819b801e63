-- title = "Communication, and waiting for other ranks in it"
-- doc = """Transfers take no time, and no rank waits for another in them; a rank that is late stays late, so waiting
-- that is known to be that is not counted."""
-- gone = ["time", "waits"]
-- needs = ["stream_waits"]
SELECT e.id, e.rank, e.start_ns AS at_ns,
    least(e.step_exposed_ns, coalesce(w.step_transfer_ns, e.step_exposed_ns)) AS counted_ns
FROM exchanges e LEFT JOIN complete_waits w ON w.rank = e.rank AND w.id = e.id
ORDER BY e.id, at_ns
