-- doc = "The step time that every report means: the mean of the steps that count. No row for a rank without steps."
-- [columns]
-- rank = "process of the job"
-- n_warmup = "leading steps left out"
-- step_ns = "mean of the steps that count"
SELECT rank, n_warmup, step_ns
FROM scope
WHERE has_steps
ORDER BY rank
