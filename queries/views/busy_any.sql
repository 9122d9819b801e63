-- title = "busy_any"
-- doc = "Activities with the time until which any activity of the same rank, on whatever device, covers them."
SELECT id, rank, start_ns, end_ns, max(end_ns) OVER (
    PARTITION BY rank ORDER BY start_ns, end_ns DESC, id
    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS covered_until_ns
FROM activities
