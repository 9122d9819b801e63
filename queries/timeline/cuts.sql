-- title = "Where the starts and ends of large tracks are divided"
-- doc = "Start of every `rows`-th slice, by thread."
-- [params]
-- rows = { type = "BIGINT", default = 131072, doc = "slices between two cuts" }
-- [columns]
-- thread_number = "number in export_thread"
SELECT DISTINCT thread_number, start_ns FROM export_slice
WHERE number % CAST($rows AS BIGINT) = 0
ORDER BY thread_number, start_ns
