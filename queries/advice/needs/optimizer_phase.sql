-- title = "Marks of the optimizer"
-- record = "a run with traceview collect, which marks the optimizer's step"
-- missing = "the trace does not mark the optimizer's step"
SELECT EXISTS (FROM raw.ranges WHERE kind = 'phase' AND name = 'optimizer')
