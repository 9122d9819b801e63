-- title = "XPlane: runtime and driver calls"
-- doc = "Host events with a correlation number. Old TensorFlow names the call after the kernel it launches."
SELECT
    id, start_ns, dur_ns, pid, line_id AS tid, name, correlation,
    CASE WHEN regexp_matches(name, '^cu[A-Z]') THEN 'driver' ELSE 'runtime' END AS kind
FROM placed WHERE goes = 'api_calls'
