-- title = "Not ranked, and why"
-- doc = "Runs that were not as requested, cannot be computed, failed or lack an environment; and frameworks now gone."
-- cannot = "Everything that was asked for was run as asked."
-- leave_out = ["layout", "batch", "mode"]
-- [columns]
-- framework = "as --frameworks names it"
-- model = "which was asked for"
-- status = "differs, cannot, failed, missing (no environment), gone"
-- mode = "forward, gradient, train"
-- batch = "samples per step"
-- threads = "threads that were asked for"
-- layout = "of images"
-- reason = "what differs, or why it has no time"
-- time_ns = "time of what differs, mean over processes"
WITH timed AS (
    SELECT DISTINCT framework, model, mode, batch, threads, layout, device FROM raw.framework_times
    WHERE status = 'timed'
), untimed AS (
    FROM raw.framework_times WHERE status <> 'timed' AND status <> 'published'
), found AS (
    -- What failed and was then run again is left out.
    FROM untimed ANTI JOIN timed USING (framework, model, mode, batch, threads, layout, device)
)
SELECT framework, model, status, array_to_string(list_sort(list_distinct(list(mode))), ', ') AS mode, batch,
    array_to_string(list_sort(list_distinct(list(threads))), ', ') AS threads,
    array_to_string(list_sort(list_distinct(list(layout))), ', ') AS layout, reason, avg(step_ns) AS time_ns
FROM found
GROUP BY framework, model, status, batch, reason
ORDER BY status = 'gone', list_position(['differs', 'failed', 'cannot', 'missing'], status), framework, model, batch,
    reason
