-- title = "Copies between host and device"
-- record = "a run on a GPU with its runtime calls"
-- missing = "the trace holds no copy between host and device"
SELECT EXISTS (FROM raw.memcpys WHERE direction IN ('HtoD', 'DtoH'))
