-- title = "Perfetto: runtime and driver calls"
-- doc = "By the categories of PyTorch's profiler and of rocprofv3."
SELECT id, start_ns, dur_ns, pid, tid, name, if(contains(cat, 'driver') OR starts_with(cat, 'hsa'), 'driver', 'runtime')
        AS kind, TRY_CAST(json_extract_string(args, '$.correlation') AS BIGINT) AS correlation
FROM event
WHERE ph = 'X' AND dur_ns IS NOT NULL
    AND cat IN ('cuda_runtime', 'cuda_driver', 'hip_api', 'hip_runtime_api', 'hip_compiler_api', 'hsa_api')
