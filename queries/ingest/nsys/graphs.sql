-- title = "nsys: CUDA graphs that were recorded as a whole"
-- doc = """One piece of a device's work, from the first of its nodes to the last; which kernels ran is not recorded. A
-- graph whose nodes were recorded is in these. All are events, too, and counted there."""
-- into = "kernels"
-- tables = ["CUPTI_ACTIVITY_KIND_GRAPH_TRACE"]
-- process = ["globalPid"]
-- counts = false
-- [params]
-- first = { type = "BIGINT", doc = "id of the first row" }
-- [source]
-- start = "BOUNDED"
-- end = "BOUNDED"
-- deviceId = "BIGINT"
-- contextId = "BIGINT"
-- streamId = "BIGINT"
-- correlationId = "BIGINT"
-- graphId = "BIGINT"
SELECT
    $first + "row" AS id, start AS start_ns, "end" - start AS dur_ns, deviceId AS device, contextId AS context,
    streamId AS stream, '[CUDA graph]' AS name, correlationId AS correlation, graphId AS graph
FROM source g
WHERE start IS NOT NULL AND "end" <> 0 AND NOT EXISTS (
    FROM (SELECT correlation FROM stage.kernels UNION ALL SELECT correlation FROM stage.memcpys) n
    WHERE n.correlation = g.correlationId)
