-- title = "Sizes of copies"
-- record = "a run on a GPU with its runtime calls"
-- missing = "the trace holds no copy whose size is recorded"
SELECT EXISTS (FROM raw.memcpys WHERE size_bytes IS NOT NULL AND direction <> 'memset')
