-- title = "nsys: GPU metrics"
-- doc = "Samples of the device's counters; the kind's low byte is the device."
-- into = "counters"
-- tables = ["GPU_METRICS"]
-- process = []
-- [params]
-- first = { type = "BIGINT", doc = "id of the first row" }
-- [source]
-- timestamp = "BOUNDED"
-- typeId = "BIGINT"
-- metricId = "BIGINT"
-- value = "BIGINT"
SELECT
    $first + "row" AS id, timestamp AS start_ns, s.typeId & 255 AS device,
    coalesce(m.name, 'metric ' || s.metricId) AS name, CAST(s.value AS DOUBLE) AS value
FROM source s LEFT JOIN metric m ON m.type = s.typeId AND m.id = s.metricId
WHERE timestamp IS NOT NULL
