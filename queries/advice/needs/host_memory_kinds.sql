-- title = "Kinds of host memory"
-- record = "a run on a GPU with its runtime calls"
-- missing = "the trace holds no copy whose kind of host memory is recorded"
SELECT EXISTS (FROM raw.memcpys WHERE direction IN ('HtoD', 'DtoH')
    AND if(direction = 'HtoD', src_kind, dst_kind) IS NOT NULL)
