-- title = "rocpd: processes"
-- doc = "Process numbers in the tables are numbers of rows here."
-- into = "temp"
-- tables = ["rocpd_info_process"]
-- [source]
-- id = "BIGINT"
-- pid = "BIGINT"
SELECT id, any_value(pid) AS pid FROM source GROUP BY id
