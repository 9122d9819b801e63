-- title = "busy"
-- doc = "Every activity with the part of its time that no earlier activity of its device covers: sums of it are unions."
SELECT *, device_until_ns AS covered_until_ns,
    greatest(end_ns - greatest(start_ns, coalesce(device_until_ns, start_ns)), 0) AS alone_ns
FROM activities
