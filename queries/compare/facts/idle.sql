-- doc = """Idle time of the devices by cause, and what ran between the compared steps, in none of them, per step and
-- rank and averaged over the devices of a rank."""
-- [columns]
-- part = "idle and its cause, or (between steps)"
-- busy_ns = "its time"
SELECT 'idle: ' || cause AS part, CAST(sum(idle_ns * weight) AS DOUBLE) AS busy_ns FROM chosen_idle GROUP BY cause
UNION ALL
SELECT '(between steps)', CAST(sum(between_ns) AS DOUBLE)
FROM (
    SELECT sum(greatest(least(b.end_ns, s.last_ns) - greatest(b.end_ns - b.alone_ns, s.first_ns), 0))
        / any_value(s.n_devices * s.n_windows * s.n_ranks)
        - coalesce(any_value(r.own_ns), 0) AS between_ns
    FROM busy b JOIN (
        SELECT rank, min(start_ns) AS first_ns, max(end_ns) AS last_ns, any_value(n_devices) AS n_devices,
            any_value(n_windows) AS n_windows, any_value(n_ranks) AS n_ranks
        FROM chosen_windows WHERE step IS NOT NULL GROUP BY rank
    ) s ON s.rank = b.rank
    LEFT JOIN (SELECT rank, sum(own_ns * weight) AS own_ns FROM chosen_rows GROUP BY rank) r ON r.rank = b.rank
    GROUP BY b.rank
)
HAVING sum(between_ns) > 0.5
ORDER BY part
