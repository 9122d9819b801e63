-- title = "Communication, and waiting for other ranks in it"
-- doc = "Transfers take no time, and no rank waits for another in them; a rank that is late stays late."
-- gone = ["time", "waits"]
-- needs = ["stream_waits"]
SELECT id, rank, start_ns AS at_ns, step_exposed_ns AS counted_ns FROM exchanges
ORDER BY id, at_ns
