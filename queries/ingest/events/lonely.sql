-- title = "Trace events: ends without their other end"
-- doc = "How many, and the names of a few."
SELECT count(*) AS n, (list(name))[:10] AS examples FROM event WHERE dur_ns IS NULL
