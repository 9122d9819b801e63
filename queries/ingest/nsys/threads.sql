-- title = "nsys: names of threads"
-- doc = "Name that a thread gave itself; it has no time."
-- into = "events"
-- tables = ["ThreadNames"]
-- process = ["globalTid"]
-- [params]
-- first = { type = "BIGINT", doc = "id of the first row" }
-- zero = { type = "BIGINT", doc = "a time at which something happened" }
-- [source]
-- globalTid = "BIGINT"
-- nameId = "BIGINT"
-- priority = "BIGINT"
SELECT
    $first + "row" AS id, coalesce($zero, 0) AS start_ns, 0 AS dur_ns,
    (globalTid >> 24) & 16777215 AS pid, globalTid & 16777215 AS tid, 'thread_name' AS category, 'metadata' AS phase,
    coalesce(n.value, '[Unknown]') AS name
FROM source LEFT JOIN string n ON n.id = nameId
