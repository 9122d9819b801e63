-- title = "Perfetto: runtime and driver calls"
-- doc = "By the categories of PyTorch's profiler and of rocprofv3."
SELECT id, start_ns, dur_ns, pid, tid, name, if(contains(cat, 'driver') OR starts_with(cat, 'hsa'), 'driver', 'runtime')
        AS kind, TRY_CAST(json_extract_string(args, '$.correlation') AS BIGINT) AS correlation
FROM event
WHERE ph = 'X' AND dur_ns IS NOT NULL AND goes_to = 'api_calls'
