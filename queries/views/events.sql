-- title = "events"
-- doc = "The table of that name, as recorded."
SELECT * FROM raw.events
