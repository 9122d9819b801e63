-- title = "The steps of a rank, with the numbers in their names"
-- doc = "A name without a number counts from 0 in order of time."
SELECT id, start_ns, start_ns + dur_ns AS end_ns,
    coalesce(TRY_CAST(regexp_extract(name, '(\d+)$', 1) AS BIGINT), row_number() OVER (ORDER BY start_ns, id) - 1)
        AS number
FROM stage.ranges WHERE kind = 'step' ORDER BY start_ns, end_ns DESC, id
