-- title = "rocprof: asynchronous copies of HSA"
-- doc = "The name tells the direction; neither device nor queue is known."
-- into = "memcpys"
-- tables = ["COPY"]
-- [params]
-- first = { type = "BIGINT", doc = "id of the first row" }
-- [source]
-- BeginNs = "BOUNDED"
-- EndNs = "BOUNDED"
-- Name = "NAME"
SELECT $first + "row" AS id, BeginNs AS start_ns, EndNs - BeginNs AS dur_ns, trim(coalesce(Name, 'copy'), '"') AS name,
    CASE WHEN regexp_matches(Name, '(?i)HostToDevice|HtoD|H2D') THEN 'HtoD'
        WHEN regexp_matches(Name, '(?i)DeviceToHost|DtoH|D2H') THEN 'DtoH'
        WHEN regexp_matches(Name, '(?i)DeviceToDevice|DtoD|D2D') THEN 'DtoD' ELSE 'unknown' END AS direction
FROM source
WHERE BeginNs IS NOT NULL AND EndNs <> 0
