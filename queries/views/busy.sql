-- title = "busy"
-- doc = "Every activity with the part of its time that no earlier activity of its device covers: sums of it are unions."
SELECT *, greatest(end_ns - greatest(start_ns, coalesce(covered_until_ns, start_ns)), 0) AS alone_ns
FROM (
    SELECT *, max(end_ns) OVER (
        PARTITION BY rank, device ORDER BY start_ns, end_ns DESC, id
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS covered_until_ns
    FROM activities
)
