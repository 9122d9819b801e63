-- title = "Chrome JSON: the facts beside the events"
-- doc = """The keys by which PyTorch's profiler's files are known, the clock, devices and job, where one rank is
-- exported."""
SELECT CAST(json_merge_patch('{}', to_json({
    schemaVersion: 1, displayTimeUnit: 'ms',
    baseTimeNanoseconds: (SELECT min(origin_unix_ns) FROM captures)
        + (SELECT least(0, min(start_ns)) FROM export_slice),
    deviceProperties: (SELECT list_sort(list(DISTINCT {id: device, name: name,
        computeMajor: TRY_CAST(split_part(architecture, '.', 1) AS INTEGER),
        computeMinor: TRY_CAST(split_part(architecture, '.', 2) AS INTEGER), numSms: n_cores,
        maxThreadsPerMultiprocessor: max_threads_per_core, totalGlobalMem: memory_bytes}))
        FROM devices WHERE kind = 'gpu' AND rank IN (SELECT rank FROM export_thread)),
    distributedInfo: (SELECT if(count(*) = 1, any_value({rank: r.rank, world_size: r.world_size, backend: r.backend}),
        NULL) FROM ranks r WHERE r.rank IN (SELECT rank FROM export_thread)),
    traceview: {framework: (SELECT any_value(framework) FROM captures), device: (SELECT any_value(name) FROM devices)}
    })) AS VARCHAR) AS event
