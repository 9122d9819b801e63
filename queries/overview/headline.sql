-- title = "The step"
-- doc = """The step and where it went: mean time, how much of it the devices were active and idle (the same account as
-- in all other reports), the largest cause of idle time, and exposed communication."""
-- brief = ""
-- cannot = "Nothing ran on a device in this trace: there is no step to account for."
-- lines = [
--     "{what} {step_ns} ({detail})", "{unit} active {active_pct}", "idle {idle_pct}{mostly}",
--     "exposed {library} {exposed_ns}",
-- ]
-- [columns]
-- what = "Step, or Recording where no steps were found"
-- step_ns = "mean step time, or the whole recording; of several ranks their mean"
-- cv_pct = "standard deviation of the steps of a rank, of their mean"
-- steps = "steps counted, of all ranks"
-- ranks = "processes with a time"
-- detail = "how much steps differ, and how many were counted"
-- unit = "GPU or CPU"
-- active_pct = "of the step, of several devices of the step of each"
-- idle_pct = "the rest of it"
-- cause = "largest cause of the idle time; see the report idle"
-- cause_pct = "of the idle time"
-- mostly = "that cause in words"
-- library = "what communicates: NCCL, or communication"
-- exposed_ns = "communication while nothing computes, per step and rank"
WITH every AS (
    SELECT 100.0 * sum(active_ns) / nullif(sum(step_ns), 0) AS active_pct,
        100.0 * sum(idle_ns) / nullif(sum(step_ns), 0) AS idle_pct, count(*) AS n_devices
    FROM account WHERE step_ns > 0
), timed AS (
    SELECT avg(step_ns) AS step_ns, count(*) AS ranks, sum(n_steps) AS steps, sum(n_warmup) AS n_warmup,
        bool_and(has_steps) AS has_steps
    FROM scope WHERE step_ns > 0 AND rank IN (SELECT rank FROM account)
), spread AS (
    -- How much the steps of one rank differ, not how much ranks do.
    SELECT 100.0 * sqrt(avg(sd_ns * sd_ns)) / avg(mean_ns) AS cv_pct
    FROM (
        SELECT stddev_samp(dur_ns) AS sd_ns, avg(dur_ns) AS mean_ns
        FROM step_times WHERE NOT is_warmup GROUP BY rank HAVING count(*) > 1
    )
), parts AS (
    SELECT cause, sum(idle_ns) AS idle_ns, 100.0 * sum(idle_ns) / nullif(sum(sum(idle_ns)) OVER (), 0) AS cause_pct
    FROM idle_causes GROUP BY cause
), largest AS (
    SELECT cause, cause_pct FROM parts ORDER BY idle_ns DESC, cause LIMIT 1
), sent AS (
    SELECT sum(exposed_ns / per) AS exposed_ns, bool_or(name ILIKE '%nccl%') AS is_nccl
    FROM exchanges WHERE is_counted
)
SELECT if(t.has_steps, 'Step', 'Recording') AS what, t.step_ns, s.cv_pct, CAST(t.steps AS BIGINT) AS steps, t.ranks,
    CASE WHEN t.has_steps THEN concat_ws(', ', if(t.ranks > 1, format('mean of {} ranks', t.ranks), NULL),
        CASE WHEN s.cv_pct >= 100 THEN format('steps vary too much for their mean to say much: cv {:.0f} %', s.cv_pct)
            WHEN s.cv_pct < 0.5 THEN 'cv <1 %' ELSE format('cv {:.0f} %', s.cv_pct) END,
        format('{} step{}{}', t.steps, if(t.steps = 1, '', 's'), if(t.ranks > 1, ' in all', '')),
        if(t.n_warmup > 0, format('{} warm-up left out', t.n_warmup), NULL))
        ELSE 'no steps found' || if(t.ranks > 1, format(', mean of {} ranks', t.ranks), '') END AS detail,
    if(EXISTS (FROM totals WHERE kind IN ('kernel', 'copy')), 'GPU', 'CPU') AS unit, e.active_pct, e.idle_pct,
    l.cause, l.cause_pct,
    CASE WHEN e.idle_pct < 0.5 OR l.cause IS NULL THEN '' ELSE if(l.cause_pct >= 50, ', mostly ', ', largest part ')
        || CASE l.cause WHEN 'launch' THEN 'host-bound' WHEN 'data' THEN 'waiting for data'
            WHEN 'allocation' THEN 'allocating memory' WHEN 'between steps' THEN 'at the edges of steps'
            WHEN 'unknown' THEN 'of unknown cause' ELSE l.cause END END AS mostly,
    if(c.is_nccl, 'NCCL', 'communication') AS library,
    if(c.exposed_ns > 0, c.exposed_ns / t.ranks, NULL) AS exposed_ns
FROM timed t, every e LEFT JOIN spread s ON true LEFT JOIN largest l ON true LEFT JOIN sent c ON true
WHERE t.step_ns > 0 AND e.n_devices > 0
ORDER BY ALL
