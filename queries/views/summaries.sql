-- title = "summaries"
-- doc = "Totals that a profiler printed instead of a timeline: one row per name. Rows with a scope repeat, for one NVTX range, what the others count already."
SELECT rank, id, args->>'$.source' AS source, args->>'$.section' AS section, args->>'$.scope' AS scope, name,
    CAST(args->>'$.calls' AS BIGINT) AS calls,
    CAST(args->>'$.total_ns' AS BIGINT) AS total_ns, CAST(args->>'$.avg_ns' AS BIGINT) AS avg_ns,
    CAST(args->>'$.min_ns' AS BIGINT) AS min_ns, CAST(args->>'$.max_ns' AS BIGINT) AS max_ns,
    CAST(args->>'$.total_bytes' AS BIGINT) AS total_bytes
FROM raw.events WHERE category = 'summary'
