-- title = "The steps around one that a timeline shows"
-- doc = "As many as are asked for, the same number on each side; else as many as have few slices together."
-- [params]
-- step = { type = "BIGINT", doc = "the one in the middle" }
-- steps = { type = "BIGINT", doc = "how many; as many as are small when left out" }
-- most = { type = "BIGINT", default = 8000, doc = "slices that all of the small ones have at most" }
-- [columns]
-- first_step = "the first of them"
-- last_step = "the last"
WITH row_step AS (
    SELECT step FROM ops UNION ALL SELECT step FROM ranges UNION ALL SELECT step FROM api_calls
    UNION ALL SELECT step FROM kernels UNION ALL SELECT step FROM memcpys UNION ALL SELECT step FROM primitives
), near AS (
    SELECT step, row_number() OVER nearest AS place,
        sum(coalesce(n, 0)) OVER (nearest ROWS UNBOUNDED PRECEDING) AS n_slices
    FROM (SELECT DISTINCT step FROM steps)
    LEFT JOIN (SELECT step, count(*) AS n FROM row_step GROUP BY step) USING (step)
    WINDOW nearest AS (ORDER BY abs(step - $step), step)
)
SELECT min(step) AS first_step, max(step) AS last_step FROM near
WHERE step = $step OR if($steps IS NULL, n_slices <= $most, place <= $steps)
