-- doc = """The windows of time that reports per step count: steps that are not warm-up; without steps the whole
-- recording is one. What is counted before a moment is before_ns of the last window that has begun, and the part of
-- that window before the moment."""
-- materialize = true
-- [columns]
-- step = "number of the step; NULL for the whole recording"
-- next_ns = "start of the next window, after the last one the end of them all"
-- before_ns = "counted time before the window"
SELECT rank, step, start_ns, end_ns, coalesce(lead(start_ns) OVER earlier, end_ns + 1) AS next_ns,
    CAST(coalesce(sum(end_ns - start_ns) OVER (earlier ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS BIGINT)
        AS before_ns
FROM (
    SELECT rank, step, start_ns, end_ns FROM step_times WHERE NOT is_warmup AND end_ns > start_ns
    UNION ALL
    SELECT rank, NULL, first_ns, last_ns FROM scope WHERE NOT has_steps AND last_ns > first_ns
)
WINDOW earlier AS (PARTITION BY rank ORDER BY start_ns)
