-- title = "The time that the graph covers"
-- doc = "One row per rank: the chosen step, or the whole recording where there are no steps."
-- [params]
-- step = { type = "BIGINT", doc = "number of the step; the whole recording when left out" }
-- [columns]
-- from_ns = "where it begins, by the rank's own clock"
-- until_ns = "where it ends"
-- moved_ns = "what is taken from the rank's times to bring ranks onto one clock, or steps that nothing ties together"
WITH whole AS (
    SELECT rank, min(start_ns) AS from_ns, max(end_ns) AS until_ns
    FROM (SELECT rank, start_ns, end_ns FROM performed
        UNION ALL SELECT rank, start_ns, start_ns + dur_ns FROM raw.ops
        UNION ALL SELECT rank, start_ns, start_ns + dur_ns FROM raw.api_calls
            WHERE id IN (SELECT launch_id FROM raw.kernels)) GROUP BY rank
), chosen AS (
    SELECT rank, start_ns AS from_ns, end_ns AS until_ns FROM step_times WHERE step = $step
    UNION ALL
    SELECT rank, from_ns, until_ns FROM whole WHERE $step IS NULL
)
-- Ranks that no collective ties to others run their steps apart from them: side by side, the longest is the path.
SELECT h.rank, h.from_ns, h.until_ns, coalesce(c.moved_ns, if($step IS NULL, 0,
    h.from_ns - coalesce(min(h.from_ns - c.moved_ns) OVER (), min(h.from_ns) OVER ()))) AS moved_ns
FROM chosen h LEFT JOIN rank_clocks c ON c.rank = h.rank
WHERE h.until_ns > h.from_ns
