-- title = "step_times"
-- doc = """Recorded steps; leading ones that take half as long again as the median are warm-up: they tune, compile or
-- allocate."""
-- materialize = true
SELECT rank, step, start_ns, end_ns, dur_ns, domain AS found_by,
    coalesce(bool_and(dur_ns > 1.5 * median_ns) OVER (
        PARTITION BY rank ORDER BY start_ns ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW), false) AS is_warmup
FROM (
    SELECT rank, step, start_ns, start_ns + dur_ns AS end_ns, dur_ns, domain,
        median(dur_ns) OVER (PARTITION BY rank) AS median_ns
    FROM raw.ranges WHERE kind = 'step' AND step IS NOT NULL
)
