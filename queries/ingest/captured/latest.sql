-- title = "Capture of a graph: when the last of it ended, and its largest id"
-- doc = "Looks at the tables that a trace of its replays takes."
SELECT max(start_ns + dur_ns) AS end_ns, max(id) AS id
FROM (SELECT id, start_ns, dur_ns FROM stage.ops UNION ALL SELECT id, start_ns, dur_ns FROM stage.api_calls
    UNION ALL SELECT id, start_ns, dur_ns FROM stage.ranges)
