-- title = "Step by step"
-- doc = "Every step of every rank: how long it took, and how much of that its devices did something."
-- cannot = "No steps in this trace."
-- [chart]
-- kind = "bars"
-- label = "step"
-- group = "rank"
-- parts = ["active_ns", "idle_ns"]
-- [columns]
-- step = "number of the step"
-- rank = "process of the job"
-- is_warmup = "leading step that takes half as long again as the median"
-- dur_ns = "its length"
-- active_ns = "the rank's devices did something, overlaps counted once"
-- idle_ns = "they did nothing"
SELECT 'step ' || CAST(step AS VARCHAR) || if(is_warmup, ' (warm-up)', '') AS step,
    'rank ' || CAST(rank AS VARCHAR) AS rank, is_warmup, dur_ns, busy_ns AS active_ns, idle_ns
FROM steps
ORDER BY steps.rank, steps.step
