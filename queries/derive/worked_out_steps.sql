-- title = "Steps that were worked out"
-- doc = "One range to each row of `worked_out`."
-- [params]
-- why = { type = "VARCHAR", doc = "what the domain of the ranges is to say" }
SELECT
    -- Above the number of every recorded event.
    (CAST(1 AS BIGINT) << 39) + number AS id, pid, tid, start_ns, end_ns - start_ns AS dur_ns, 'step' AS kind,
    CAST(number AS VARCHAR) AS name, $why AS domain
FROM worked_out
