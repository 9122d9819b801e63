-- doc = """Facts on each process beyond its trace: mostly what traceview collect noted about the run, so NULL for
-- traces from elsewhere."""
-- materialize = true
-- [columns]
-- rank = "process of the job"
-- threads = "threads that the framework computes with"
-- cores = "cores that the process may use"
-- processor = "name of the processor"
-- cpu_hz = "highest clock that the system names, else that of the moment"
-- simd_bits = "widest vector of the processor: 512, 256 or 128 bits"
-- used_simd_bits = "widest vector that the CPU library uses, by its own account or its implementations' names"
-- onednn_by_default = """whether TensorFlow switches oneDNN on by itself here: on x86 since 2.9 on processors with
-- AVX512_VNNI, AVX512_BF16, AVX_VNNI or AMX (DefaultOneDnnPolicy in tensorflow/core/util/port.cc); NULL for others or
-- where not recorded"""
-- n_recorded = "steps recorded"
-- recorded_ns = "time from the start of recording to its end"
-- user_ns = "processor time of the process meanwhile, in the program"
-- system_ns = "the same in the kernel of the system: page faults, allocation, input and output"
-- minor_faults = "pages that the process touched for the first time meanwhile, or again after giving them back"
-- host_ns = """time from before the recording to after it in which the machine was counted; NULL below 0.2 s, since the
-- system counts a hundred times a second"""
-- host_cores = "cores that the times of the machine below are of"
-- own_ns = "processor time of the process and of those that belong to its run, while recording"
-- busy_ns = "time that the cores were busy meanwhile, for whomever, what a hypervisor took included"
-- stolen_ns = "of it, time that a hypervisor took"
-- throttled_ns = "time for which the container's limit of cores held threads back"
-- memory_stall_ns = "time in which some process of the machine waited for memory"
-- involuntary_switches = "times that the process was interrupted for others"
-- gpus = """GPUs that the process computed on, as their drivers told just before and just after the recorded steps:
-- clocks, heat, power (mean power NULL below 0.2 s: energy is counted now and then), the share of the time between the
-- two looks (`wall_ns`) in which the limit of power or heat lowered the clock, and reasons that were named"""
-- flags = "switches of the framework, as JSON"
-- environment = "environment variables that change how a step runs, as JSON"
-- batch = "samples per step"
-- parameter_bytes = "of an element of the model's parameters; of the widest where they differ"
-- copy_bytes_per_s = "what the fastest of a few copies read and wrote, measured after the recording of a CPU"
-- loads = """how the DataLoaders load that gave batches while recording, that of training first, then that of most
-- batches"""
-- has_workers = "whether the first of them has processes that load"
-- pins = "whether it gives batches in pinned memory"
-- n_elements = """elements of parameters, gradients and what the optimizer keeps of them that were looked at for
-- denormal numbers"""
-- n_denormal = "of them denormal"
-- n_denormal_squares = """of these in what an optimizer that is not fused keeps of squared gradients, whose root it
-- takes in each step"""
-- denormal_sqrt_ns = "what the square root of a denormal number took longer than of a normal one, measured on one core"
-- denormal_multiply_ns = "the same of a product"
-- untrained = """outermost modules whose parameters ask for gradients while no optimizer has any of them, of a model
-- that an optimizer trains"""
-- n_evaluated = "forward passes in evaluation mode until the recording ended"
-- n_unused = "of them with gradients and without a backward pass"
-- n_maybe_used = "of them with gradients, before a backward pass that may be of another model"
-- n_validated = """forward passes of the model that is trained, in evaluation mode and without gradients, within
-- recorded steps after a backward pass of theirs"""
-- machine_bytes = "memory of the machine"
-- resident_start_bytes = "memory of the machine that the process held when recording began"
-- resident_end_bytes = "the same when it ended"
-- resident_most_bytes = "most that it had held until then"
WITH noted AS (
    SELECT c.rank, any_value(p.value) AS facts
    FROM raw.captures c, json_each(c.options, '$.ranks') p
    WHERE TRY_CAST(p.value->>'$.rank' AS BIGINT) = c.rank
    GROUP BY c.rank
), header AS (
    SELECT rank, max(metadata->>'$.isa') AS isa, max(TRY_CAST(metadata->>'$.threads' AS BIGINT)) AS threads
    FROM raw.captures WHERE format = 'onednn' GROUP BY rank
), named AS (
    SELECT rank, max(CASE WHEN regexp_matches(impl, 'avx512|avx10') THEN 512 WHEN contains(impl, 'avx') THEN 256
        WHEN contains(impl, 'sse') THEN 128 END) AS bits
    FROM raw.primitives GROUP BY rank
), gpu AS (
    SELECT rank, list({device: g.device, name: g.name, wall_ns: g.wall_ns, first_clock_hz: g.clock_hz[1],
        last_clock_hz: g.clock_hz[2], max_clock_hz: g.max_clock_hz, memory_clock_hz: g.memory_clock_hz,
        mean_power_w: if(g.wall_ns >= 200_000_000, g.energy_j * 1e9 / g.wall_ns, NULL), power_w: g.power_w,
        power_limit_w: g.power_limit_w, celsius: g.celsius,
        power_held_pct: 100.0 * coalesce(g.held_ns.power / g.wall_ns, g.held_share.power),
        heat_held_pct: 100.0 * coalesce(g.held_ns.heat / g.wall_ns, g.held_share.heat),
        reasons: nullif(array_to_string(g.reasons, ', '), '')} ORDER BY g.device) AS gpus
    FROM (SELECT rank, unnest(TRY_CAST(facts->'$.gpus' AS STRUCT(device BIGINT, name VARCHAR, wall_ns BIGINT,
        clock_hz BIGINT[], max_clock_hz BIGINT, memory_clock_hz BIGINT, energy_j DOUBLE, power_w DOUBLE,
        power_limit_w DOUBLE, celsius DOUBLE, held_ns STRUCT(power BIGINT, heat BIGINT),
        held_share STRUCT(power DOUBLE, heat DOUBLE), reasons VARCHAR[])[])) AS g FROM noted)
    GROUP BY rank
), known AS (
    SELECT r.rank, n.facts, h.isa, h.threads AS header_threads, p.bits,
        list_reverse_sort(TRY_CAST(n.facts->'$.loaders' AS STRUCT(trains BOOLEAN, batches BIGINT,
            workers BIGINT, prefetch_factor BIGINT, pin_memory BOOLEAN, batch BIGINT)[])) AS loaders,
        TRY_CAST(n.facts->'$.cpu_flags' AS VARCHAR[]) AS cpu_flags
    FROM raw.ranks r LEFT JOIN noted n USING (rank) LEFT JOIN header h USING (rank) LEFT JOIN named p USING (rank)
)
SELECT rank,
    -- TensorFlow says 0 where it takes as many as there are cores.
    coalesce(nullif(TRY_CAST(facts->>'$.threads' AS BIGINT), 0), header_threads,
        TRY_CAST(facts->>'$.cores' AS BIGINT)) AS threads,
    TRY_CAST(facts->>'$.cores' AS BIGINT) AS cores, facts->>'$.cpu' AS processor,
    TRY_CAST(facts->>'$.cpu_hz' AS BIGINT) AS cpu_hz,
    CASE WHEN list_contains(cpu_flags, 'avx512f') THEN 512 WHEN list_contains(cpu_flags, 'avx2') THEN 256
        WHEN list_contains(cpu_flags, 'sse4_1') THEN 128 END AS simd_bits,
    coalesce(CASE WHEN isa ILIKE '%AVX-512%' OR isa ILIKE '%AVX10%' THEN 512 WHEN isa ILIKE '%AVX%' THEN 256
        WHEN isa ILIKE '%SSE%' THEN 128 END, bits) AS used_simd_bits,
    CASE WHEN facts->>'$.framework' ILIKE 'tensorflow' AND list_contains(cpu_flags, 'sse4_1')
        AND TRY_CAST(string_split(facts->>'$.framework_version', '.')[:2] AS INTEGER[]) >= [2, 9]
        THEN list_has_any(cpu_flags, ['avx512_vnni', 'avx512_bf16', 'avx_vnni', 'amx_tile',
            'amx_int8', 'amx_bf16']) END AS onednn_by_default,
    TRY_CAST(facts->>'$.steps.recorded' AS BIGINT) AS n_recorded,
    TRY_CAST(facts->>'$.usage.wall_ns' AS BIGINT) AS recorded_ns,
    TRY_CAST(facts->>'$.usage.user_ns' AS BIGINT) AS user_ns,
    TRY_CAST(facts->>'$.usage.system_ns' AS BIGINT) AS system_ns,
    TRY_CAST(facts->>'$.usage.minor_faults' AS BIGINT) AS minor_faults,
    if(TRY_CAST(facts->>'$.usage.machine_ns' AS BIGINT) >= 200_000_000,
        TRY_CAST(facts->>'$.usage.machine_ns' AS BIGINT), NULL) AS host_ns,
    TRY_CAST(facts->>'$.usage.cores' AS BIGINT) AS host_cores,
    TRY_CAST(facts->>'$.usage.own_ns' AS BIGINT) AS own_ns,
    TRY_CAST(facts->>'$.usage.busy_ns' AS BIGINT) AS busy_ns,
    TRY_CAST(facts->>'$.usage.stolen_ns' AS BIGINT) AS stolen_ns,
    TRY_CAST(facts->>'$.usage.throttled_ns' AS BIGINT) AS throttled_ns,
    TRY_CAST(facts->>'$.usage.memory_stall_ns' AS BIGINT) AS memory_stall_ns,
    TRY_CAST(facts->>'$.usage.involuntary_switches' AS BIGINT) AS involuntary_switches,
    gpus, facts->'$.flags' AS flags, facts->'$.environment' AS environment,
    TRY_CAST(facts->>'$.model.batch' AS BIGINT) AS batch,
    list_max(list_transform(TRY_CAST(facts->'$.model.parameter_dtypes' AS VARCHAR[]),
        lambda dtype: TRY_CAST(regexp_extract(dtype, '\d+') AS BIGINT) / 8)) AS parameter_bytes,
    TRY_CAST(facts->>'$.copy_bytes_per_s' AS BIGINT) AS copy_bytes_per_s,
    array_to_string(list_transform(loaders, lambda l: concat_ws(', ',
        CASE l.workers WHEN 0 THEN 'no workers' WHEN 1 THEN '1 worker' ELSE l.workers || ' workers' END,
        if(l.workers > 0, 'prefetch_factor=' || l.prefetch_factor, NULL), if(l.pin_memory, 'pin_memory=True', NULL),
        'batch ' || l.batch)), '; ') AS loads,
    loaders[1].workers > 0 AS has_workers, loaders[1].pin_memory AS pins,
    TRY_CAST(facts->>'$.model.denormal.elements' AS BIGINT) AS n_elements,
    TRY_CAST(facts->>'$.model.denormal.denormal' AS BIGINT) AS n_denormal,
    TRY_CAST(facts->>'$.model.denormal.squares' AS BIGINT) AS n_denormal_squares,
    TRY_CAST(facts->>'$.model.denormal.sqrt_ns' AS DOUBLE) AS denormal_sqrt_ns,
    TRY_CAST(facts->>'$.model.denormal.multiply_ns' AS DOUBLE) AS denormal_multiply_ns,
    TRY_CAST(facts->'$.untrained' AS VARCHAR[]) AS untrained,
    TRY_CAST(facts->>'$.evaluated.passes' AS BIGINT) AS n_evaluated,
    TRY_CAST(facts->>'$.evaluated.with_gradients' AS BIGINT) AS n_unused,
    TRY_CAST(facts->>'$.evaluated.maybe_used' AS BIGINT) AS n_maybe_used,
    TRY_CAST(facts->>'$.validated' AS BIGINT) AS n_validated,
    TRY_CAST(facts->>'$.memory_bytes' AS BIGINT) AS machine_bytes,
    TRY_CAST(facts->>'$.resident.start.bytes' AS BIGINT) AS resident_start_bytes,
    TRY_CAST(facts->>'$.resident.end.bytes' AS BIGINT) AS resident_end_bytes,
    TRY_CAST(facts->>'$.resident.end.most_bytes' AS BIGINT) AS resident_most_bytes
FROM known LEFT JOIN gpu USING (rank)
