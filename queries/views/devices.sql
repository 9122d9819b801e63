-- doc = "A row for each device, with its peak rates and their source."
-- materialize = true
SELECT * FROM raw.devices
