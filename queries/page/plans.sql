-- title = "The plan for the convolutions, and other plans"
-- doc = """Times as fast as PyTorch's own: the sum of the measured passes of all convolutions, and whole training
-- steps where pairs of fresh processes were run, with their interval; at 1 there is no difference. The report
-- schedule has all of it."""
-- cannot = "No plan in this capture."
-- [chart]
-- kind = "intervals"
-- label = "plan"
-- value = "speedup"
-- low = "low"
-- high = "high"
-- verdict = "verdict"
-- [columns]
-- plan = "the plan, PyTorch's own, or one algorithm wherever it can run; of whole steps, or convolutions alone"
-- speedup = "time of PyTorch's own over this"
-- low = "lower end of the interval of that"
-- high = "upper end"
-- verdict = "faster, slower, no difference seen, cannot decide, not measured; alone: a sum of passes, no whole step"
SELECT name || if(clock = 'processor', ', processor time of a whole step', ', whole step') AS plan, speedup, low, high,
    verdict
FROM raw.schedule_plans WHERE speedup IS NOT NULL
UNION ALL
SELECT name || ', convolutions', modelled_speedup, NULL, NULL, 'alone'
FROM raw.schedule_plans WHERE modelled_speedup IS NOT NULL AND (name <> 'the plan'
    OR EXISTS (FROM raw.schedule_layers WHERE status = 'chosen' OR layout <> 'nchw'))
ORDER BY verdict = 'alone', speedup DESC, plan
