-- title = "rpd: arguments of copies"
-- doc = "Sizes and devices of the calls that copy."
-- into = "temp"
-- tables = ["rocpd_copyapi"]
-- [source]
-- api_ptr_id = "BIGINT"
-- size = "BIGINT"
-- dstDevice = "BIGINT"
-- srcDevice = "BIGINT"
SELECT DISTINCT ON (api_ptr_id) * EXCLUDE ("row", "table") FROM source ORDER BY api_ptr_id, "row"
