-- title = "By rank"
-- doc = "Exposed: communication while nothing computes on the rank. Copies do not count as computing."
-- cannot = "No communication in this trace."
-- leave_out = ["hidden_ns", "size_bytes"]
-- worst = "exposed_ns"
-- [columns]
-- rank = "process of the job"
-- calls = "kernels or calls"
-- size_bytes = "bytes of their inputs, where recorded"
-- busy_ns = "time in which at least one was running"
-- window_pct = "of the time from the first to the last activity or communication of the rank"
-- hidden_ns = "of it while something computed on the same rank"
-- exposed_ns = "of it while nothing computed"
-- exposed_pct = "of the communication time"
-- [headings]
-- window_pct = "of recording"
-- exposed_pct = "exposed of communication"
WITH sent AS MATERIALIZED (
    SELECT * FROM exchanges
), recorded AS (
    SELECT rank, max(end_ns) - min(start_ns) AS window_ns
    FROM (SELECT rank, start_ns, end_ns FROM activities UNION ALL SELECT rank, start_ns, end_ns FROM sent) GROUP BY rank
)
SELECT rank, count(DISTINCT id) AS calls, CAST(sum(size_bytes) AS BIGINT) AS size_bytes,
    CAST(sum(own_ns) AS BIGINT) AS busy_ns,
    100.0 * sum(own_ns) / nullif(any_value(window_ns), 0) AS window_pct, CAST(sum(hidden_ns) AS BIGINT) AS hidden_ns,
    CAST(sum(own_ns - hidden_ns) AS BIGINT) AS exposed_ns,
    100.0 * sum(own_ns - hidden_ns) / nullif(sum(own_ns), 0) AS exposed_pct
FROM sent JOIN recorded USING (rank)
GROUP BY rank
ORDER BY rank
