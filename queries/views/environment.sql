-- doc = """The conditions under which a capture was made, as papers list them: one row per condition, in the order of a
-- table of system configuration. What `traceview collect` or an experiment noted comes first, else what the trace says;
-- nothing is worked out of the machine that reads it. Ranks that differ are listed."""
-- [columns]
-- position = "place in the list"
-- condition = "what it is"
-- value = "its value; NULL where it is not recorded"
-- recorded_by = "traceview, the trace, or NULL where it is not recorded"
WITH noted AS (
    SELECT p.value AS facts FROM raw.captures c, json_each(c.options, '$.ranks') p
    UNION ALL
    SELECT json_extract(options, '$.machine') FROM raw.captures WHERE json_extract(options, '$.machine') IS NOT NULL
), added AS (
    SELECT coalesce(any_value(format(' in each of {} passes', passes)) FILTER (passes > 1), '') AS of_passes,
        any_value(passes) AS passes, any_value(samples) AS samples
    FROM step_passes
), listed AS (
    SELECT n.facts, w.condition, json_extract_string(n.facts, w.path) AS value
    FROM noted n CROSS JOIN (VALUES ('CUDA or HIP', '$.cuda_version'), ('CUDA or HIP', '$.hip_version'),
        ('cuDNN', '$.cudnn_version'),
        ('driver', '$.driver_version'), ('CPU', '$.cpu'), ('cores', '$.cores'), ('governor', '$.governor'),
        ('oneDNN', '$.onednn_version'), ('oneDNN of the build', '$.onednn_built'),
        ('BLAS', '$.blas'), ('compiler', '$.compiler'), ('system', '$.platform'), ('Python', '$.python'),
        ('threads', '$.threads'), ('model', '$.model.name')) w(condition, path)
), told AS (
    SELECT condition, value FROM listed
    UNION ALL
    SELECT 'batch', if(samples <> TRY_CAST(batch AS BIGINT) * passes, format('{} in {} passes', samples, passes),
        batch || of_passes)
    FROM (SELECT facts->>'$.model.batch' AS batch FROM noted), added
    UNION ALL
    SELECT 'GPU', if(n > 1, n || ' x ', '') || name FROM (
        SELECT json_extract_string(d.value, '$') AS name, count(*) AS n FROM noted, json_each(facts, '$.devices') d
        WHERE (facts->>'$.device') NOT IN ('cpu', 'CPU') GROUP BY name)
    UNION ALL
    SELECT 'CPU clock', format('{:.2f} GHz', TRY_CAST(facts->>'$.cpu_hz' AS DOUBLE) / 1e9) FROM noted
    UNION ALL
    -- Linux lists them as "0-1,3".
    SELECT 'NUMA nodes', CAST(list_sum(list_transform(string_split(facts->>'$.numa_nodes', ','), lambda part:
            CAST(1 AS BIGINT) + TRY_CAST(split_part(part, '-', -1) AS INT) - TRY_CAST(split_part(part, '-', 1) AS INT)
        )) AS VARCHAR)
    FROM noted
    UNION ALL
    SELECT 'memory', format('{:.1f} GB', TRY_CAST(facts->>'$.memory_bytes' AS DOUBLE) / 1e9) FROM noted
    UNION ALL
    SELECT 'instruction sets', array_to_string(TRY_CAST(facts->'$.cpu_flags' AS VARCHAR[]), ' ') FROM noted
    UNION ALL
    SELECT 'container', CASE WHEN json_extract(facts, '$.limits') IS NULL THEN NULL ELSE coalesce(nullif(concat_ws(', ',
        format('{:.3g} cores', TRY_CAST(facts->>'$.limits.cores' AS DOUBLE)),
        format('{:.1f} GB of memory', TRY_CAST(facts->>'$.limits.memory_bytes' AS DOUBLE) / 1e9)), ''), 'no limits') END
    FROM noted
    UNION ALL
    SELECT 'parameters', format('{:,d}', TRY_CAST(facts->>'$.model.parameters' AS BIGINT)) FROM noted
    UNION ALL
    SELECT 'precision', coalesce(facts->>'$.model.autocast_dtype', facts->>'$.model.parameter_dtypes') FROM noted
    UNION ALL
    SELECT 'input', nullif(concat_ws(' ', array_to_string(TRY_CAST(facts->'$.model.input.shape' AS VARCHAR[]), 'x'),
        facts->>'$.model.input.dtype', facts->>'$.model.input.memory_format'), '') FROM noted
    UNION ALL
    SELECT 'command', array_to_string(TRY_CAST(options->'$.command' AS VARCHAR[]), ' ') FROM raw.captures
    UNION ALL
    SELECT 'data loading', loads FROM processes
), used AS (
    SELECT DISTINCT rank, device FROM raw.kernels UNION SELECT DISTINCT rank, device FROM raw.memcpys
), device AS (
    SELECT d.* FROM raw.devices d WHERE d.kind IS DISTINCT FROM 'cpu'
        AND ((d.rank, d.device) IN (FROM used) OR NOT EXISTS (FROM used))
), timed AS (
    -- Experiments say of each row with what it was measured. What was published beside it ran elsewhere.
    FROM timed_shapes WHERE status <> 'published' OR NOT EXISTS (FROM timed_shapes WHERE status <> 'published')
), ran AS (
    FROM framework_cells WHERE NOT is_published OR NOT EXISTS (FROM framework_cells WHERE NOT is_published)
), recorded AS (
    SELECT 'framework' AS condition, concat_ws(' ', framework, framework_version) AS value FROM raw.captures
    WHERE framework IS NOT NULL
    UNION ALL
    SELECT 'GPU', if(count(*) > 1, count(*) || ' x ', '') || name FROM device WHERE name IS NOT NULL GROUP BY name
    UNION ALL
    SELECT 'GPU memory', format('{:.1f} GB', memory_bytes / 1e9) FROM device
    UNION ALL
    SELECT 'GPU clock', format('{:.2f} GHz', clock_hz / 1e9) FROM device
    UNION ALL
    SELECT 'CPU', name FROM raw.devices WHERE kind = 'cpu'
    UNION ALL
    SELECT 'instruction sets', metadata->>'$.isa' FROM raw.captures
    UNION ALL
    SELECT if(place = 'cuda_driver_version', 'driver', 'CUDA or HIP'),
        format('CUDA {}.{}', version // 1000, version % 1000 // 10)
    FROM (SELECT place, TRY_CAST(json_extract_string(metadata, '$.' || place) AS BIGINT) AS version
        FROM raw.captures, (VALUES ('cuda_driver_version'), ('cuda_runtime_version')) p(place))
    WHERE version > 0
    UNION ALL
    SELECT 'command', command FROM raw.captures
    UNION ALL
    SELECT 'batch', mode(input_shape[1]) || any_value(of_passes) FROM conv_calls, added WHERE direction = 'fprop'
    UNION ALL
    SELECT 'precision', dtype FROM conv_calls
    UNION ALL
    SELECT 'precision', dtype FROM matmul_shapes WHERE NOT EXISTS (FROM conv_calls WHERE dtype IS NOT NULL)
    UNION ALL
    SELECT 'GPU', device FROM timed WHERE device <> 'cpu'
    UNION ALL
    SELECT 'library', concat_ws(' ', backend, backend_version) FROM timed WHERE backend IS NOT NULL
    UNION ALL
    SELECT 'threads', CAST(threads AS VARCHAR) FROM timed
    UNION ALL
    SELECT 'model', model FROM timed
    UNION ALL
    SELECT 'batch', CAST(batch AS VARCHAR) FROM timed
    UNION ALL
    SELECT 'precision', dtype FROM timed
    UNION ALL
    SELECT 'publication', source FROM timed_shapes WHERE status = 'published'
    UNION ALL
    SELECT 'publication', source FROM framework_cells WHERE is_published
    UNION ALL
    SELECT 'framework', concat_ws(' ', framework, version) FROM ran
    UNION ALL
    SELECT 'GPU', device FROM ran WHERE device <> 'cpu'
    UNION ALL
    SELECT 'threads', CAST(threads AS VARCHAR) FROM ran
    UNION ALL
    SELECT 'model', model FROM ran
    UNION ALL
    SELECT 'batch', CAST(batch AS VARCHAR) FROM ran
), told_once AS (
    -- A log names the version that ran; a build the one that it was made with.
    SELECT if(condition = 'oneDNN of the build' AND NOT EXISTS (FROM told WHERE condition = 'oneDNN' AND value <> ''),
        'oneDNN', condition) AS condition, value
    FROM told
), named AS (
    SELECT condition, string_agg(DISTINCT value, ', ' ORDER BY value) AS value FROM told_once WHERE value <> ''
    GROUP BY ALL
), seen AS (
    SELECT condition, string_agg(DISTINCT value, ', ' ORDER BY value) AS value FROM recorded WHERE value <> ''
    GROUP BY ALL
)
SELECT c.position, c.condition, coalesce(n.value, s.value) AS value,
    CASE WHEN n.value IS NOT NULL THEN 'traceview' WHEN s.value IS NOT NULL THEN 'the trace' END AS recorded_by
FROM (VALUES (1, 'framework'), (2, 'library'), (3, 'CUDA or HIP'), (5, 'cuDNN'), (6, 'driver'), (7, 'GPU'),
    (8, 'GPU memory'), (9, 'GPU clock'), (10, 'CPU'), (11, 'cores'), (12, 'CPU clock'), (13, 'instruction sets'),
    (14, 'memory'), (15, 'container'), (16, 'BLAS'), (17, 'oneDNN'), (18, 'compiler'), (19, 'system'),
    (20, 'Python'), (21, 'threads'), (22, 'command'), (23, 'model'), (24, 'parameters'), (25, 'batch'),
    (26, 'precision'), (27, 'input'), (28, 'dataset'), (29, 'publication'),
    (30, 'governor'), (31, 'NUMA nodes'),
    (32, 'data loading')) c(position, condition)
LEFT JOIN named n ON n.condition = c.condition LEFT JOIN seen s ON s.condition = c.condition
WHERE EXISTS (FROM raw.captures)
