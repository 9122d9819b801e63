-- title = "How many things take time in the chosen window"
-- doc = "At least: operators count once, whatever runs inside them."
WITH span AS (
    SELECT rank, start_ns, dur_ns FROM raw.kernels
    UNION ALL SELECT rank, start_ns, dur_ns FROM raw.memcpys
    UNION ALL SELECT rank, start_ns, dur_ns FROM raw.api_calls
    UNION ALL SELECT rank, start_ns, dur_ns FROM raw.ops
    UNION ALL SELECT rank, start_ns, dur_ns FROM raw.primitives
)
SELECT count(*) FROM span s JOIN critical_window w ON w.rank = s.rank AND s.start_ns < w.until_ns
    AND s.start_ns + s.dur_ns > w.from_ns
