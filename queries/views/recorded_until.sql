-- doc = "When the recording of each rank ended: the end of the last thing that it holds of devices and host."
-- materialize = true
SELECT rank, max(end_ns) AS end_ns
FROM (SELECT rank, max(start_ns + dur_ns) AS end_ns FROM raw.kernels GROUP BY rank
    UNION ALL SELECT rank, max(start_ns + dur_ns) FROM raw.memcpys GROUP BY rank
    UNION ALL SELECT rank, max(start_ns + dur_ns) FROM raw.primitives GROUP BY rank
    UNION ALL SELECT rank, max(start_ns + dur_ns) FROM raw.collectives GROUP BY rank
    UNION ALL SELECT rank, max(start_ns + dur_ns) FROM raw.ops GROUP BY rank
    UNION ALL SELECT rank, max(start_ns + dur_ns) FROM raw.api_calls GROUP BY rank)
GROUP BY rank
