-- title = "rocprof: work on a device"
-- doc = "Kernels, memory copies and memsets of the queues; some versions write a table of kernels instead (A)."
-- into = "temp"
-- counts = true
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
    BeginNs IS NULL OR EndNs IS NULL OR EndNs = 0 AS is_lost, "queue-id" AS stream,
    trim(coalesce(Name, KernelName, '[Unknown]'), '"') AS name,
    -- What is copied, from where to where, and nothing else: kernels have names of their own.
    coalesce(regexp_matches(trim(Name, '"'), '(?i)^(hc|hip)?_?(copy|mem(cpy|set)|fill)'
        || '(_?(host|device|peer|to|[hd]to[hd]|[hd]2[hd]|buffer|rect|image|async|[123]d|d(8|16|32)|aligned))*$'), false)
        AS is_copy
FROM source
