-- doc = """Use of the machine while steps were recorded, as traceview collect noted it on Linux: of the cores that the
-- process may use. NULL where the system does not count; no row for traces from elsewhere."""
-- [columns]
-- rank = "process of the job"
-- cores = "cores that the process may use"
-- recorded_ns = "time from the start of the recording to its end"
-- own_ns = "processor time of the process and of those that belong to its run"
-- busy_ns = "time that these cores were busy, for whomever, what a hypervisor took included"
-- stolen_ns = "of it, time that a hypervisor took"
-- throttled_ns = "time for which the container's limit of cores held threads back"
-- memory_stall_ns = "time in which some process of the machine waited for memory"
-- involuntary_switches = "times that the process was interrupted for others"
SELECT c.rank, TRY_CAST(p.value->>'$.usage.cores' AS BIGINT) AS cores,
    TRY_CAST(p.value->>'$.usage.wall_ns' AS BIGINT) AS recorded_ns,
    TRY_CAST(p.value->>'$.usage.own_ns' AS BIGINT) AS own_ns,
    TRY_CAST(p.value->>'$.usage.busy_ns' AS BIGINT) AS busy_ns,
    TRY_CAST(p.value->>'$.usage.stolen_ns' AS BIGINT) AS stolen_ns,
    TRY_CAST(p.value->>'$.usage.throttled_ns' AS BIGINT) AS throttled_ns,
    TRY_CAST(p.value->>'$.usage.memory_stall_ns' AS BIGINT) AS memory_stall_ns,
    TRY_CAST(p.value->>'$.usage.involuntary_switches' AS BIGINT) AS involuntary_switches
FROM raw.captures c, json_each(c.options, '$.ranks') p
WHERE TRY_CAST(p.value->>'$.rank' AS BIGINT) = c.rank AND TRY_CAST(p.value->>'$.usage.cores' AS BIGINT) > 0
GROUP BY ALL
