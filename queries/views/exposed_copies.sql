-- doc = """Per device, the time in which copies between host and device run and nothing else does, inside the steps
-- that count (without steps: in the whole recording). Copies on the device itself and fills are its own work."""
-- materialize = true
-- [columns]
-- exposed_ns = "in all steps that count"
-- copy_ns = "time in which such copies run, in all steps that count: hidden or exposed"
WITH place AS (
    SELECT rank, device, CAST(sum(alone_ns) FILTER (is_counted OR is_carried) AS BIGINT) AS both_ns FROM totals
    GROUP BY rank, device HAVING bool_or(kind = 'copy' AND category IN ('memcpy_htod', 'memcpy_dtoh'))
), kind AS (
    SELECT rank, device, start_ns, end_ns, category IN ('memcpy_htod', 'memcpy_dtoh') AND kind = 'copy' AS is_copy
    FROM activities WHERE (rank, device) IN (SELECT (rank, device) FROM place)
), piece AS (
    -- Of such copies and of all else what nothing earlier of it covers: sums of these are unions.
    SELECT rank, device, is_copy, end_ns, greatest(start_ns, coalesce(max(end_ns) OVER earlier, start_ns)) AS from_ns
    FROM kind
    WINDOW earlier AS (PARTITION BY rank, device, is_copy ORDER BY start_ns, end_ns
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
), counted AS (
    SELECT p.rank, p.device, p.is_copy, coalesce(z.before_ns + least(p.end_ns, z.end_ns) - z.start_ns, 0)
        - coalesce(s.before_ns + least(p.from_ns, s.end_ns) - s.start_ns, 0) AS own_ns
    FROM (FROM piece WHERE end_ns > from_ns) p
    ASOF LEFT JOIN counted_windows s ON s.rank = p.rank AND p.from_ns >= s.start_ns
    ASOF LEFT JOIN counted_windows z ON z.rank = p.rank AND p.end_ns >= z.start_ns
), summed AS (
    SELECT rank, device, coalesce(sum(own_ns) FILTER (NOT is_copy), 0) AS work_ns,
        coalesce(sum(own_ns) FILTER (is_copy), 0) AS copy_ns
    FROM counted GROUP BY rank, device
)
SELECT s.rank, s.device, CAST(coalesce(p.both_ns, 0) - s.work_ns AS BIGINT) AS exposed_ns,
    CAST(s.copy_ns AS BIGINT) AS copy_ns
FROM summed s JOIN place p ON p.rank = s.rank AND p.device = s.device
