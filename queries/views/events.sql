-- doc = "A row for each other timed thing, with its arguments as JSON."
SELECT * FROM raw.events
