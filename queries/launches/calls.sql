-- title = "Runtime and driver calls"
-- doc = """Time the host spent in the device's interface, by function. Waiting for the device counts as time in the
-- call that waits."""
-- cannot = "No runtime or driver call was recorded."
-- leave_out = ["max_ns"]
-- rest = ["calls", "total_ns", "share_pct"]
-- [columns]
-- name = "function"
-- calls = "calls"
-- total_ns = "time in them"
-- mean_ns = "per call"
-- max_ns = "longest"
-- share_pct = "of the time in all recorded calls"
-- [headings]
-- share_pct = "of call time"
SELECT name, count(*) AS calls, CAST(sum(dur_ns) AS BIGINT) AS total_ns, avg(dur_ns) AS mean_ns, max(dur_ns) AS max_ns,
    100.0 * sum(dur_ns) / nullif(sum(sum(dur_ns)) OVER (), 0) AS share_pct
FROM raw.api_calls
GROUP BY name
ORDER BY total_ns DESC, name
