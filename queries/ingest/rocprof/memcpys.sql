-- title = "rocprof: copies on the queues"
-- doc = "Neither size nor memory is recorded; the name tells the direction."
-- into = "memcpys"
-- tables = ["OPS"]
SELECT id, start_ns, end_ns - start_ns AS dur_ns, device, stream, name,
    CASE WHEN regexp_matches(name, '(?i)set|fill') THEN 'memset'
        WHEN regexp_matches(name, '(?i)HostToDevice|HtoD|H2D') THEN 'HtoD'
        WHEN regexp_matches(name, '(?i)DeviceToHost|DtoH|D2H') THEN 'DtoH'
        WHEN regexp_matches(name, '(?i)DeviceToDevice|DtoD|D2D') THEN 'DtoD' ELSE 'unknown' END AS direction
FROM op WHERE is_copy AND NOT is_lost
