-- title = "Calls of TensorFlow's runtime"
-- record = "a run with TensorFlow's profiler"
-- missing = "the trace records no calls of TensorFlow's eager runtime"
SELECT EXISTS (FROM raw.ranges WHERE name = 'EagerExecute')
