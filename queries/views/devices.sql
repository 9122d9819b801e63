-- doc = """A row for each device that the trace describes, as it does. device_peaks has each device that a kernel ran
-- on, and the peak rates that reports go by."""
-- materialize = true
SELECT * FROM raw.devices
