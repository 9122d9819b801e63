-- title = "rpd: which call caused which work"
-- doc = "One call for each piece of work on a device."
-- into = "temp"
-- tables = ["rocpd_api_ops"]
-- [source]
-- api_id = "BIGINT"
-- op_id = "BIGINT"
SELECT op_id, min(api_id) AS api_id FROM source GROUP BY op_id
