-- title = "Time by category"
-- doc = """Device time {per step and rank|over the whole recording, per rank}, summed over the devices of a rank.
-- Overlapping work on a device is counted once, for what started first. All rows but the last, between steps, add up to
-- the {step|recording}. Calls count kernels, copies, primitives and, on a CPU, operators; they include nested
-- operators{. Without steps the whole recording counts as one step|}. A summary that a profiler printed gives its
-- totals of the whole run, a framework's log of averages those of one iteration of each network; neither has a step
-- to be a share of."""
-- cannot = "No work of a device was found in this trace."
-- brief = "Overlapping work is counted once, for what started first."
-- subject = "work of a device"
-- top = 8
-- first = 8
-- without = ["calls"]
-- rest = ["calls", "busy_ns", "busy_pct", "step_pct"]
-- always = [
--     "(launched outside these steps)", "(GPU idle)", "(TPU idle)", "(MTIA idle)", "(CPU idle)", "(between steps)",
-- ]
-- [chart]
-- kind = "stack"
-- label = "category"
-- value = "busy_ns"
-- only = "step_pct"
-- of = "the {step|recording}"
-- [columns]
-- category = "what it was (docs/vocabulary.md), or no activity; last what ran between steps, which is in no step"
-- calls = "kernels, copies, primitives or operators {per step|in the recording}"
-- busy_ns = "device time {per step|in the recording}, overlaps on a device counted once"
-- busy_pct = "of all active device time inside the {step|recording}"
-- step_pct = "of {step time|the recording}; of several devices, of the step of each"
-- [headings]
-- busy_pct = "of active"
-- step_pct = "of {step|recording}"
-- [fractions]
-- calls = "calls{/step| (mean)}"
WITH step AS (
    SELECT sum(step_ns) AS step_ns, if(count(*) = count(idle_ns), sum(idle_ns), NULL) / count(DISTINCT rank) AS idle_ns,
        count(DISTINCT rank) AS n_ranks
    FROM account
), shares AS (
    SELECT CASE WHEN is_carried THEN '(launched outside these steps)' WHEN is_between THEN '(between steps)'
            ELSE category END AS category,
        round(sum(n / per_rank) FILTER (is_continued IS NOT true), 6) AS calls, sum(alone_ns / per_rank) AS busy_ns,
        CASE WHEN is_carried THEN 1 WHEN is_between THEN 3 ELSE 0 END AS position
    FROM totals WHERE is_counted OR is_carried OR is_between GROUP BY 1, position
    UNION ALL
    SELECT format('({} idle)', upper(kind)), NULL, idle_ns, 2 FROM step CROSS JOIN accelerator WHERE idle_ns IS NOT NULL
    UNION ALL
    SELECT coalesce(category, 'memcpy_' || lower(copy_direction)), sum(calls), sum(total_ns), 0 FROM printed_totals
    WHERE total_ns IS NOT NULL GROUP BY 1
    UNION ALL
    SELECT kind, count(*), sum(dur_ns), 0 FROM printed_layers GROUP BY kind
)
SELECT CASE WHEN position = 2 AND NOT EXISTS (FROM totals WHERE kind IN ('kernel', 'copy')) THEN '(CPU idle)'
        ELSE category END AS category, calls, busy_ns,
    CASE WHEN position < 2 THEN 100.0 * busy_ns / nullif(sum(busy_ns) FILTER (position < 2) OVER (), 0) END AS busy_pct,
    CASE WHEN position < 3 THEN 100.0 * busy_ns * n_ranks / nullif(step_ns, 0) END AS step_pct
FROM shares LEFT JOIN step ON true
ORDER BY position, busy_ns DESC, category
