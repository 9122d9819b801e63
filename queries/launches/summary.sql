-- title = "Launching kernels"
-- doc = """The queue delay goes from the end of the launching call to the start of its first kernel, where that is
-- positive; on ROCm and with graphs one call may launch several kernels, and is one launch."""
-- cannot = "No kernel in this trace."
-- leave_out = ["linked", "queue_max_ns", "launch_mean_ns", "queue_mean_ns", "launches", "launch_ns", "short"]
-- worst = "queue_median_ns"
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
-- [headings]
-- short_pct = "short of kernels"
-- short_time_pct = "short of kernel time"
SELECT rank, t.kernels, t.linked, t.launches, t.launch_ns, t.launch_mean_ns, t.launch_median_ns, t.queue_median_ns,
    t.queue_mean_ns, t.queue_max_ns, coalesce(s.short, 0) AS short,
    100.0 * coalesce(s.short, 0) / t.kernels AS short_pct,
    100.0 * s.short_ns / nullif(t.total_ns, 0) AS short_time_pct
FROM launch_totals t
LEFT JOIN (
    SELECT rank, count(*) AS short, sum(dur_ns) AS short_ns FROM kernels WHERE dur_ns < $short_ns GROUP BY rank
) s USING (rank)
ORDER BY rank
