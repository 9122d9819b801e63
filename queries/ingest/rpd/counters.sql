-- title = "rpd: monitored values"
-- doc = "Clocks and the like, each from a time on."
-- into = "counters"
-- tables = ["rocpd_monitor"]
-- [params]
-- first = { type = "BIGINT", doc = "id of the first row" }
-- is_first = { type = "BOOLEAN", doc = "samples belong to no process: only the first rank has them" }
-- [source]
-- deviceId = "BIGINT"
-- monitorType = "VARCHAR"
-- start = "BOUNDED"
-- value = "VARCHAR"
SELECT $first + "row" AS id, start AS start_ns, deviceId AS device, monitorType AS name,
    TRY_CAST(value AS DOUBLE) AS value
FROM source WHERE start IS NOT NULL AND $is_first
