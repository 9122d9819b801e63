-- doc = """Per rank, the calls that launched kernels; the launch of a graph is one. The queue delay goes from the end
-- of the call to the start of its first kernel, where that is positive."""
-- materialize = true
-- [columns]
-- kernels = "kernels"
-- linked = "of them with a recorded launch"
-- launches = "calls that launched them"
-- launch_ns = "time in these calls"
-- launch_mean_ns = "per call"
-- launch_median_ns = "median"
-- queue_median_ns = "queue delay, median"
-- queue_mean_ns = "queue delay, mean"
-- queue_max_ns = "queue delay, longest"
-- total_ns = "sum of the kernels' durations"
WITH linked AS (
    SELECT k.rank, k.id, k.dur_ns, k.launch_id, k.launch_dur_ns AS call_ns,
        k.start_ns - k.launch_start_ns - k.launch_dur_ns AS waited_ns,
        row_number() OVER (PARTITION BY k.launch_id ORDER BY k.start_ns, k.id) AS position
    FROM kernels k
)
SELECT rank, count(*) AS kernels, count(launch_id) AS linked, count(DISTINCT launch_id) AS launches,
    CAST(sum(call_ns) FILTER (position = 1) AS BIGINT) AS launch_ns,
    avg(call_ns) FILTER (position = 1) AS launch_mean_ns,
    median(call_ns) FILTER (position = 1) AS launch_median_ns,
    median(queue_ns) AS queue_median_ns, avg(queue_ns) AS queue_mean_ns, max(queue_ns) AS queue_max_ns,
    CAST(sum(dur_ns) AS BIGINT) AS total_ns
FROM (SELECT *, if(position = 1 AND waited_ns > 0, waited_ns, NULL) AS queue_ns FROM linked)
GROUP BY rank
