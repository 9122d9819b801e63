-- title = "Calls of the device's runtime"
-- record = "a run on a GPU with its runtime calls"
-- missing = "the trace holds no calls of the device's runtime"
SELECT EXISTS (FROM raw.api_calls)
