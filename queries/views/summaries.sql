-- doc = """Totals that a profiler printed instead of a timeline: one row per name. Rows with a scope repeat, for one
-- NVTX range, what the others count already."""
-- materialize = true
-- empty_without = ["raw.events"]
-- types = """rank INTEGER, id BIGINT, source VARCHAR, section VARCHAR, scope VARCHAR, network VARCHAR, name VARCHAR,
-- calls BIGINT, total_ns BIGINT, avg_ns BIGINT, min_ns BIGINT, max_ns BIGINT, total_bytes BIGINT"""
SELECT rank, id, args->>'$.source' AS source, args->>'$.section' AS section, args->>'$.scope' AS scope,
    args->>'$.network' AS network, name,
    TRY_CAST(args->>'$.calls' AS BIGINT) AS calls,
    TRY_CAST(args->>'$.total_ns' AS BIGINT) AS total_ns, TRY_CAST(args->>'$.avg_ns' AS BIGINT) AS avg_ns,
    TRY_CAST(args->>'$.min_ns' AS BIGINT) AS min_ns, TRY_CAST(args->>'$.max_ns' AS BIGINT) AS max_ns,
    TRY_CAST(args->>'$.total_bytes' AS BIGINT) AS total_bytes
-- Events of a trace may have that category too; they have a time.
FROM raw.events WHERE category = 'summary' AND start_ns IS NULL
