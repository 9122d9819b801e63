-- title = "What the host did"
-- record = "a run on a GPU with its runtime calls"
-- missing = "the trace has no host activity"
SELECT EXISTS (FROM raw.api_calls) OR EXISTS (FROM raw.ops)
    OR EXISTS (FROM raw.ranges WHERE kind <> 'step')
