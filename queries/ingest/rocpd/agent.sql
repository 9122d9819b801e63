-- title = "rocpd: processors"
-- doc = "Devices are numbered within their type."
-- into = "temp"
-- tables = ["rocpd_info_agent"]
-- [source]
-- id = "BIGINT"
-- type = "NAME"
-- type_index = "BIGINT"
-- logical_index = "BIGINT"
-- name = "NAME"
-- product_name = "NAME"
-- model_name = "NAME"
SELECT DISTINCT ON (id) id, type, coalesce(type_index, logical_index, id) AS device, name AS architecture,
    coalesce(nullif(product_name, ''), nullif(model_name, ''), name) AS name
FROM source ORDER BY id, "row"
