-- title = "What the host did"
-- missing = "the trace has no host activity"
SELECT EXISTS (FROM raw.api_calls) OR EXISTS (FROM raw.ops)
    OR EXISTS (FROM raw.ranges WHERE kind <> 'step')
