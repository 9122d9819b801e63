-- title = "nsys: runtime and driver calls"
-- doc = "One table for both; correlation numbers repeat across processes, so those of other processes are left out."
-- into = "api_calls"
-- tables = ["CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_DRIVER"]
-- process = ["globalTid"]
-- [params]
-- first = { type = "BIGINT", doc = "id of the first row" }
-- pid = { type = "BIGINT", doc = "the process whose device work is read; every one when left out" }
-- [source]
-- start = "BOUNDED"
-- end = "BOUNDED"
-- eventClass = "BIGINT"
-- globalTid = "BIGINT"
-- correlationId = "BIGINT"
-- nameId = "BIGINT"
SELECT
    $first + "row" AS id, start AS start_ns, "end" - start AS dur_ns,
    (globalTid >> 24) & 16777215 AS pid, globalTid & 16777215 AS tid,
    coalesce(n.value, '[Unknown]') AS name,
    CASE
        WHEN eventClass = 0 THEN 'runtime' WHEN eventClass = 1 OR "table" = 'CUPTI_ACTIVITY_KIND_DRIVER' THEN 'driver'
        WHEN regexp_matches(n.value, '^cu[A-Z]') THEN 'driver' ELSE 'runtime'
    END AS kind,
    CASE WHEN coalesce($pid = (globalTid >> 24) & 16777215, true) THEN correlationId END AS correlation
FROM source LEFT JOIN string n ON n.id = nameId
WHERE start IS NOT NULL AND "end" <> 0
