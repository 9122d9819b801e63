-- doc = """The steps that are compared: those asked for, else all except warm-up; none where whole recordings are
-- compared."""
-- [params]
-- whole = { type = "BOOLEAN", default = false, doc = "compare whole recordings, not steps" }
-- first_step = { type = "BIGINT", doc = "number of the first step" }
-- last_step = { type = "BIGINT", doc = "number of the last step" }
-- ordinal = { type = "BIGINT", doc = "only the step in this place among all steps except warm-up" }
-- [columns]
-- rank = "process of the job"
-- step = "number of the step"
-- start_ns = "start"
-- dur_ns = "duration"
SELECT rank, step, start_ns, dur_ns
FROM (SELECT *, row_number() OVER (PARTITION BY rank, is_warmup ORDER BY step) AS place FROM step_times)
WHERE NOT $whole AND CASE WHEN $ordinal IS NOT NULL THEN NOT is_warmup AND place = $ordinal
    WHEN $first_step IS NULL AND $last_step IS NULL THEN NOT is_warmup
    ELSE step BETWEEN coalesce($first_step, step) AND coalesce($last_step, step) END
