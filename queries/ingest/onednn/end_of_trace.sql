-- title = "When the trace ends that a log accompanies"
-- doc = "On the clock of the trace; NULL for a log on its own."
SELECT max(end_ns) FROM (
    SELECT max(start_ns + dur_ns) AS end_ns FROM stage.ops
    UNION ALL SELECT max(start_ns + dur_ns) FROM stage.kernels
    UNION ALL SELECT max(start_ns + dur_ns) FROM stage.ranges
    UNION ALL SELECT max(start_ns + dur_ns) FROM stage.memcpys
)
