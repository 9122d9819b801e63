-- title = "Communication, and waiting for other ranks in it"
-- doc = """Transfers take no time, and no rank waits for another in them; a rank that is late stays late. So of
-- what is exposed in a step as much counts as the rank with the least of it has: the step becomes no shorter than what
-- else that rank does."""
-- gone = ["time", "waits"]
-- needs = ["stream_waits"]
WITH sent AS (
    SELECT id, rank, step, start_ns, if(is_counted, step_exposed_ns, 0) AS exposed_ns,
        sum(step_exposed_ns) OVER (PARTITION BY rank, step) AS own_ns
    FROM exchanges
)
SELECT id, rank, start_ns AS at_ns,
    exposed_ns * min(nullif(own_ns, 0)) OVER (PARTITION BY step) / own_ns AS counted_ns
FROM sent
ORDER BY id, at_ns
