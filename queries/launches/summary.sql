-- title = "Launching kernels"
-- doc = "The queue delay goes from the end of the launching call to the start of its kernel, where that is positive; on ROCm and with graphs one call may launch several kernels."
-- cannot = "No kernel in this trace."
-- [params]
-- short_ns = { type = "BIGINT", default = 10000, doc = "a kernel is short below this duration" }
-- [columns]
-- rank = "process of the job"
-- kernels = "kernels"
-- linked = "of them with a recorded launch"
-- launches = "calls that launched them"
-- launch_ns = "time in these calls"
-- launch_mean_ns = "per call"
-- launch_median_ns = "median"
-- queue_median_ns = "queue delay, median"
-- queue_mean_ns = "queue delay, mean"
-- queue_max_ns = "queue delay, longest"
-- short = "kernels below the limit"
-- short_pct = "of all kernels"
-- short_time_pct = "their time, of the time of all kernels"
WITH linked AS (
    SELECT k.rank, k.id, k.dur_ns, k.launch_id, a.dur_ns AS call_ns,
        k.start_ns - a.start_ns - a.dur_ns AS queue_ns,
        row_number() OVER (PARTITION BY k.launch_id ORDER BY k.start_ns, k.id) AS position
    FROM raw.kernels k LEFT JOIN raw.api_calls a ON a.id = k.launch_id
)
SELECT rank, count(*) AS kernels, count(launch_id) AS linked, count(DISTINCT launch_id) AS launches,
    CAST(sum(call_ns) FILTER (position = 1) AS BIGINT) AS launch_ns, avg(call_ns) FILTER (position = 1) AS launch_mean_ns,
    median(call_ns) FILTER (position = 1) AS launch_median_ns,
    median(queue_ns) FILTER (queue_ns > 0) AS queue_median_ns, avg(queue_ns) FILTER (queue_ns > 0) AS queue_mean_ns,
    max(queue_ns) FILTER (queue_ns > 0) AS queue_max_ns,
    count(*) FILTER (dur_ns < $short_ns) AS short, 100.0 * count(*) FILTER (dur_ns < $short_ns) / count(*) AS short_pct,
    100.0 * sum(dur_ns) FILTER (dur_ns < $short_ns) / nullif(sum(dur_ns), 0) AS short_time_pct
FROM linked
GROUP BY rank
ORDER BY rank
