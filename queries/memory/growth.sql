-- title = "Left behind by steps"
-- doc = """Memory that at least two steps allocate and that is not released while it is recorded: a leak, or a buffer
-- that fills. The last step is left out: the next one may release what it holds."""
-- cannot = "Nothing that two steps allocated stayed; or no allocations of a framework inside steps were recorded."
-- leave_out = ["pieces", "layer", "phase"]
-- [columns]
-- rank = "process of the job"
-- device = "device number; empty for the host"
-- op = "operator that allocated it"
-- layer = "its layer"
-- phase = "its phase"
-- line = "line of the user's own code"
-- pieces = "allocations"
-- left_bytes = "their bytes"
-- steps = "steps that left something behind"
-- of_steps = "number of steps, without the last"
-- step_bytes = "left behind by such a step"
SELECT rank, device, op_name AS op, layer, phase, file || ':' || CAST(line AS VARCHAR) AS line, pieces, left_bytes,
    steps, of_steps, step_bytes
FROM memory_growth
ORDER BY rank, device, left_bytes DESC, op, layer, phase, line
