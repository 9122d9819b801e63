-- title = "rocpd: names"
-- doc = "Names are kept once and referred to by number."
-- into = "temp"
-- tables = ["rocpd_string"]
-- [source]
-- id = "BIGINT"
-- string = "NAME"
SELECT id, any_value(string) AS value FROM source GROUP BY id
