-- doc = """Kernels and copies as a profiler printed them instead of a timeline, for ranks that have none: totals and
-- averages of the whole run and all its devices, one row per name."""
-- materialize = true
-- empty_without = ["summaries"]
-- types = """rank INTEGER, kind VARCHAR, name VARCHAR, category VARCHAR, algorithm VARCHAR, direction VARCHAR,
-- library VARCHAR, copy_direction VARCHAR, calls BIGINT, total_ns BIGINT, min_ns BIGINT, max_ns BIGINT,
-- size_bytes BIGINT"""
-- [columns]
-- kind = "kernel or copy"
-- copy_direction = "HtoD, DtoH, DtoD, PtoP, HtoH or memset"
-- size_bytes = "bytes in all, where the summary has them"
WITH told AS (
    -- A section adds up, as the tables of several devices do; another one may tell the same again, or sizes alone.
    SELECT rank, section, name, regexp_matches(name, '(?i)^\[?CUDA mem(cpy|set)') AS is_copy, sum(calls) AS calls,
        sum(total_ns) AS total_ns, min(min_ns) AS min_ns, max(max_ns) AS max_ns, sum(total_bytes) AS size_bytes
    FROM summaries
    WHERE scope IS NULL
        AND regexp_matches(section, '(?i)^gpu|gpu_(kern|mem|sum)|gpukern|gpumem|gpusum|profiling result')
        AND rank NOT IN (SELECT rank FROM raw.kernels UNION SELECT rank FROM raw.memcpys)
    GROUP BY ALL
)
SELECT s.rank, if(s.is_copy, 'copy', 'kernel') AS kind, s.name, any_value(if(s.is_copy, NULL, n.category)) AS category,
    any_value(n.algorithm) AS algorithm, any_value(n.direction) AS direction, any_value(n.library) AS library,
    CASE WHEN NOT s.is_copy THEN NULL WHEN s.name ILIKE '%memset%' THEN 'memset'
        WHEN regexp_matches(s.name, '(?i)HtoD|Host-to-Device') THEN 'HtoD'
        WHEN regexp_matches(s.name, '(?i)DtoH|Device-to-Host') THEN 'DtoH'
        WHEN regexp_matches(s.name, '(?i)DtoD|Device-to-Device') THEN 'DtoD'
        WHEN regexp_matches(s.name, '(?i)PtoP|Peer-to-Peer') THEN 'PtoP'
        WHEN regexp_matches(s.name, '(?i)HtoH|Host-to-Host') THEN 'HtoH' ELSE 'unknown' END AS copy_direction,
    max(s.calls)::BIGINT AS calls, max(s.total_ns)::BIGINT AS total_ns, min(s.min_ns) AS min_ns,
    max(s.max_ns) AS max_ns, max(s.size_bytes)::BIGINT AS size_bytes
FROM told s
LEFT JOIN names.kernel n ON n.name = s.name AND n.op_path IS NULL AND n.phase IS NULL
GROUP BY s.rank, s.is_copy, s.name
