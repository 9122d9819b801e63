-- title = "nsys: names of GPU metrics"
-- doc = "One name per kind and number."
-- into = "temp"
-- tables = ["TARGET_INFO_GPU_METRICS"]
-- [source]
-- typeId = "BIGINT"
-- metricId = "BIGINT"
-- metricName = "NAME"
SELECT typeId AS type, metricId AS id, any_value(metricName) AS name FROM source GROUP BY ALL
