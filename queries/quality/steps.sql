-- title = "Steps"
-- doc = "Whether training steps were found, and how. Without steps, every number is for the whole recording."
-- cannot = "This capture has no process."
-- [columns]
-- rank = "process of the job"
-- steps = "steps counted"
-- warmup = "leading steps excluded as warm-up: more than 1.5 times the median, for other reasons than waits for data"
-- found_by = "step source"
SELECT s.rank, s.n_steps AS steps, s.n_warmup AS warmup,
    CASE WHEN s.n_steps + s.n_warmup = 0 THEN 'none found' ELSE t.source END AS found_by
FROM scope s
LEFT JOIN (SELECT rank, string_agg(DISTINCT source, ', ' ORDER BY source) AS source FROM step_times
    GROUP BY rank) t
    USING (rank)
ORDER BY s.rank
