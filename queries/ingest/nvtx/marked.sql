-- title = "NVTX: whether the trace beside it has steps of its own"
-- doc = "Then no mark of the program is one."
SELECT EXISTS (FROM stage.ranges WHERE kind = 'step')
