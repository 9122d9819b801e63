-- title = "rocprof: work on a device"
-- doc = "Kernels, memory copies and memsets of the queues; some versions write a table of kernels instead (A)."
-- into = "temp"
-- tables = ["OPS", "A"]
-- [params]
-- first = { type = "BIGINT", doc = "id of the first row" }
-- [source]
-- BeginNs = "BOUNDED"
-- EndNs = "BOUNDED"
-- dev-id = "BIGINT"
-- gpu-id = "BIGINT"
-- queue-id = "BIGINT"
-- Name = "NAME"
-- KernelName = "NAME"
-- pid = "BIGINT"
-- tid = "BIGINT"
SELECT $first + "row" AS id, "table", BeginNs AS start_ns, EndNs AS end_ns, coalesce("dev-id", "gpu-id") AS device,
    "queue-id" AS stream, trim(coalesce(Name, KernelName, '[Unknown]'), '"') AS name,
    coalesce(regexp_matches(Name, '(?i)^(hc|hip)?_?(copy|mem(cpy|set)|fill)'), false) AS is_copy
FROM source
