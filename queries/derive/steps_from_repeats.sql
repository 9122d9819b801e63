-- title = "Steps from iterations that repeat"
-- doc = "One range to each iteration that was found."
-- [params]
-- why = { type = "VARCHAR", doc = "what the domain of the ranges is to say" }
SELECT
    -- Above the number of every recorded event.
    (CAST(1 AS BIGINT) << 39) + row_number() OVER (ORDER BY start_ns) AS id, start_ns, end_ns - start_ns AS dur_ns,
    'step' AS kind, CAST(row_number() OVER (ORDER BY start_ns) - 1 AS VARCHAR) AS name, $why AS domain
FROM iteration
