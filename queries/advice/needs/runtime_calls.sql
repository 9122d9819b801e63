-- title = "Calls of the device's runtime"
-- missing = "the trace holds no calls of the device's runtime"
SELECT EXISTS (FROM raw.api_calls)
