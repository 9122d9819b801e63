-- doc = "Steps that overlap the one before, have its number, or whose busy and idle time do not add up to them."
-- [columns]
-- before_ns = "end of the step before"
SELECT rank, step, start_ns, end_ns, dur_ns, busy_ns, idle_ns,
    lag(end_ns) OVER (PARTITION BY rank ORDER BY start_ns, end_ns) AS before_ns
FROM steps
QUALIFY dur_ns < 0 OR end_ns <> start_ns + dur_ns OR busy_ns + idle_ns <> dur_ns OR busy_ns NOT BETWEEN 0 AND dur_ns
    OR start_ns < before_ns OR count(*) OVER (PARTITION BY rank, step) > 1
ORDER BY rank, step, start_ns
