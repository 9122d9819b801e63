-- doc = """Recorded settings of the run: from `traceview collect` (capture.json), and of framework, devices and command
-- from the trace itself where it has them. Ranks that differ are listed."""
-- [columns]
-- kind = """device, option (torch.compile, and those tried in the process, see docs/options.md), threads, precision,
-- layout, batch, data, model, flag, version, environment, command, job or recording"""
-- name = "setting"
-- value = "its value"
WITH noted AS (
    SELECT c.rank, any_value(p.value) AS facts FROM raw.captures c, json_each(c.options, '$.ranks') p
    WHERE TRY_CAST(p.value->>'$.rank' AS BIGINT) = c.rank GROUP BY c.rank
), whole AS (
    SELECT DISTINCT options FROM raw.captures WHERE options IS NOT NULL
), named AS (
    SELECT w.kind, w.name, json_extract_string(n.facts, w.path) AS value
    FROM noted n CROSS JOIN (VALUES ('device', 'device', '$.device'), ('device', 'devices', '$.devices'),
        ('device', 'processor', '$.cpu'), ('device', 'cores', '$.cores'),
        ('threads', 'threads between operators', '$.interop_threads'),
        ('precision', 'parameters are', '$.model.parameter_dtypes'),
        ('precision', 'autocast', '$.model.autocast_dtype'),
        ('precision', 'input is', '$.model.input.dtype'), ('layout', 'layout', '$.model.input.memory_format'),
        ('layout', 'input shape', '$.model.input.shape'), ('batch', 'batch of a pass', '$.model.batch'),
        ('model', 'model', '$.model.name'), ('model', 'number of parameters', '$.model.parameters'),
        ('version', 'Python', '$.python'), ('version', 'CUDA', '$.cuda_version'), ('version', 'HIP', '$.hip_version'),
        ('version', 'cuDNN', '$.cudnn_version'), ('version', 'oneDNN', '$.onednn_version'),
        ('version', 'system', '$.platform'), ('job', 'host', '$.host'), ('job', 'processes', '$.world_size'))
        w(kind, name, path)
), told AS (
    FROM named
    UNION ALL SELECT 'threads', 'threads', CAST(threads AS VARCHAR) FROM processes
    UNION ALL SELECT 'data', 'data loading', loads FROM processes
    UNION ALL SELECT 'flag', f.key, f.value->>'$' FROM noted n, json_each(n.facts, '$.flags') f
    UNION ALL SELECT 'option', a.key, a.value->>'$' FROM noted n, json_each(n.facts, '$.applied') a
    UNION ALL SELECT 'option', 'torch.compile', format('{} graph{}', n, if(n = 1, '', 's'))
    FROM (SELECT count(DISTINCT g.value->>'$.id') AS n FROM noted n, json_each(n.facts, '$.compiled.graphs') g
        WHERE g.value->>'$.failed' IS NULL GROUP BY n.rank)
    UNION ALL SELECT 'environment', e.key, e.value->>'$' FROM noted n, json_each(n.facts, '$.environment') e
    UNION ALL SELECT 'version', 'framework', concat_ws(' ', framework, framework_version) FROM raw.captures
    WHERE framework IS NOT NULL
    UNION ALL SELECT 'device', 'devices', d.name FROM raw.devices d
    WHERE NOT EXISTS (FROM noted) AND d.kind <> 'cpu'
    UNION ALL SELECT 'command', 'command',
        coalesce(array_to_string(TRY_CAST(options->'$.command' AS VARCHAR[]), ' '), command) FROM raw.captures
    UNION ALL SELECT 'recording', 'noted by', 'traceview collect' FROM noted
    UNION ALL SELECT 'recording', o.key, o.value->>'$' FROM whole, json_each(options, '$.options') o
)
SELECT kind, name, string_agg(DISTINCT value, ', ' ORDER BY value) AS value
FROM told WHERE value IS NOT NULL AND kind IS NOT NULL AND name IS NOT NULL
GROUP BY kind, name
ORDER BY kind, name
