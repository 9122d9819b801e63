-- doc = """Times of the processes of one framework in one version, model and mode, under the same conditions: mean and
-- standard deviation over processes. Published times are rows of their own."""
-- [columns]
-- mean_ns = "mean of the processes' mean step times"
-- sd_ns = "standard deviation of these; none of a single process"
-- n = "processes"
-- busy = "of these, processes in which other programs took a tenth of the cores"
-- differs = "conditions that are not as asked, joined by +"
SELECT framework, version, max(year) AS year, model, mode, batch, threads, layout, device,
    status = 'published' AS is_published, source, differs, max(reason) AS reason,
    avg(step_ns) AS mean_ns,
    stddev_samp(step_ns) AS sd_ns, count(*) AS n, count(*) FILTER (others_pct >= 10) AS busy,
    max(threads_seen) AS threads_seen, max(parameters) AS parameters, max(optimizer) AS optimizer, max(loss) AS loss,
    max(steps) AS steps, max(discarded) AS discarded
FROM raw.framework_times WHERE step_ns IS NOT NULL
GROUP BY framework, version, model, mode, batch, threads, layout, device, status = 'published', source, differs
