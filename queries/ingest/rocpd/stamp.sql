-- title = "rocpd: times"
-- doc = "Later schemas keep times apart; earlier ones in the rows themselves."
-- into = "temp"
-- tables = ["rocpd_timestamp"]
-- [source]
-- id = "BIGINT"
-- value = "BOUNDED"
SELECT id, any_value(value) AS value FROM source GROUP BY id
