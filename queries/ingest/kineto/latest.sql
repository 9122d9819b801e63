-- title = "Kineto: the last start of anything"
-- doc = "Tells times since 1970 from those of a clock of its own; the first would not, since metadata need no time."
SELECT max(start_ns) FROM (
    SELECT max(start_ns) AS start_ns FROM stage.ops UNION ALL SELECT max(start_ns) FROM stage.api_calls
    UNION ALL SELECT max(start_ns) FROM stage.kernels UNION ALL SELECT max(start_ns) FROM stage.memcpys
    UNION ALL SELECT max(start_ns) FROM stage.ranges UNION ALL SELECT max(start_ns) FROM stage.events
)
