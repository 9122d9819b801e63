-- title = "rocpd: threads"
-- doc = "Thread numbers in the tables are numbers of rows here."
-- into = "temp"
-- tables = ["rocpd_info_thread"]
-- [source]
-- id = "BIGINT"
-- tid = "BIGINT"
SELECT id, any_value(tid) AS tid FROM source GROUP BY id
