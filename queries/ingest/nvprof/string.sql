-- title = "nvprof: names"
-- doc = "Names are kept once and referred to by number."
-- into = "temp"
-- tables = ["StringTable"]
-- [source]
-- _id_ = "BIGINT"
-- value = "NAME"
SELECT _id_ AS id, any_value(value) AS value FROM source GROUP BY _id_
