-- title = "step_times"
-- doc = "Recorded steps; leading ones of more than 1.5 times the median are warm-up: they tune, compile or allocate."
-- materialize = true
-- [columns]
-- found_by = "how the step was worked out; NULL where the profiler or the program marked it"
-- source = "how it was found, or what marked it"
SELECT rank, step, start_ns, end_ns, dur_ns, found_by,
    coalesce(found_by, nullif(regexp_replace(name, '[ _:#=]*\d+$', ''), '') || ' annotations', 'the profiler')
        AS source,
    coalesce(bool_and(dur_ns > 1.5 * median_ns) OVER (
        PARTITION BY rank ORDER BY start_ns ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW), false) AS is_warmup
FROM (
    SELECT rank, step, start_ns, start_ns + dur_ns AS end_ns, dur_ns, name,
        -- Numbers of their own have those that were worked out.
        if(id & ((CAST(1 AS BIGINT) << 40) - 1) >= CAST(1 AS BIGINT) << 39, domain, NULL) AS found_by,
        median(dur_ns) OVER (PARTITION BY rank) AS median_ns
    FROM raw.ranges WHERE kind = 'step' AND step IS NOT NULL
)
