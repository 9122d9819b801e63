-- doc = "One call into the device's runtime or driver."
SELECT *, start_ns + dur_ns AS end_ns FROM raw.api_calls
