-- title = "nsys: names"
-- doc = "Names are kept once and referred to by number."
-- into = "temp"
-- tables = ["StringIds"]
-- [source]
-- id = "BIGINT"
-- value = "NAME"
SELECT id, any_value(value) AS value FROM source GROUP BY id
