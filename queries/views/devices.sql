-- title = "devices"
-- doc = "The table of that name, as recorded."
-- materialize = true
SELECT * FROM raw.devices
