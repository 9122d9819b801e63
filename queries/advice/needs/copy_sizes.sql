-- title = "Sizes of copies"
-- missing = "the trace holds no copy whose size is recorded"
SELECT EXISTS (FROM raw.memcpys WHERE size_bytes IS NOT NULL AND direction <> 'memset')
