-- title = "nvprof text: calls into the runtime and the driver"
-- doc = "A call that launched a kernel is printed as `cudaLaunch (kernel [correlation])`."
-- [params]
-- pid = { type = "BIGINT", doc = "process" }
SELECT id, start_ns, dur_ns, $pid AS pid, regexp_extract(name, '^[^\s(]+') AS name, correlation,
    CASE WHEN name LIKE 'cuda%' THEN 'runtime' WHEN name LIKE 'cu%' THEN 'driver' END AS kind
FROM activity WHERE "table" = 'api_calls'
