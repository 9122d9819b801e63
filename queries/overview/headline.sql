-- title = "The step"
-- doc = """The step and where it went: mean time, how much of it the devices were active and idle (the same account as
-- in all other reports), the largest cause of idle time, and exposed communication."""
-- brief = ""
-- cannot = "No work of a device with times was found: no step can be accounted for."
-- lines = [
--     "{what} {step_ns} ({detail})", "{unit} active {active_pct}", "idle {idle_pct}{mostly}",
--     "exposed copies {copies_ns} ({copies_pct})", "exposed {library} {exposed_ns}",
--     "convolutions {conv_pct} of {conv_of}{with_layout}",
-- ]
-- [columns]
-- what = "Step, Iteration where nothing is trained, or Recording where neither was found"
-- step_ns = "mean step time, or the whole recording; of several ranks their mean"
-- cv_pct = "standard deviation of the steps of a rank, of their mean"
-- steps = "steps counted, of all ranks"
-- ranks = "processes with a time"
-- detail = """how much steps differ, how many were counted, whether they are a guess, and of how many devices times
-- are sums"""
-- unit = "GPU or CPU"
-- active_pct = """of the step, of several devices of the step of each; not known of a CPU that no operator was recorded
-- of, or whose log has no time stamps"""
-- idle_pct = "the rest of it"
-- cause = "largest cause of the idle time; see the report idle"
-- cause_pct = "of the idle time"
-- mostly = "that cause in words"
-- copies_ns = """only copies between host and device run{, per step and rank| over the whole recording, per rank};
-- where it is 1 % of the step or more"""
-- copies_pct = "of the {step|recording}"
-- library = "what communicates: NCCL, or communication"
-- exposed_ns = "communication while nothing computes{, per step and rank| over the whole recording, per rank}"
-- conv_pct = "convolutions, overlaps counted once"
-- conv_of = "step or recording"
-- with_layout = "the same with all layout conversions, where there are any"
WITH every AS (
    SELECT 100.0 * sum(active_ns) / nullif(sum(step_ns), 0) AS active_pct,
        100.0 * sum(idle_ns) / nullif(sum(step_ns), 0) AS idle_pct, count(*) AS n_devices,
        if(count(*) > count(DISTINCT rank),
            format('times below are sums of {:.2g} devices', count(*) / count(DISTINCT rank)), NULL) AS many,
        (sum(active_ns) > 0 OR bool_or(device <> 'cpu')) AND count(*) = count(idle_ns) AS is_known,
        sum(exposed_copy_ns) / count(DISTINCT rank) AS copies_ns, sum(step_ns) / count(DISTINCT rank) AS step_ns,
        100.0 * sum(exposed_copy_ns) / nullif(sum(step_ns), 0) AS copies_pct
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
), named AS (
    SELECT if(bool_or(is_guessed), 'guessed ', '') AS guessed, any_value(noun) AS noun,
        bool_or(is_guessed) AS is_guessed
    FROM step_times
), held AS (
    -- What steps leave out: work between them, and what was launched in the last one and ran after it.
    SELECT 100.0 * (SELECT sum(busy_ns) FROM steps) / nullif(sum(end_ns - from_ns), 0) AS held_pct
    FROM stretches
), empty AS (
    SELECT count(*) AS n FROM marked_steps WHERE is_empty
), parts AS (
    SELECT cause, sum(idle_ns) AS idle_ns, 100.0 * sum(idle_ns) / nullif(sum(sum(idle_ns)) OVER (), 0) AS cause_pct
    FROM idle_causes GROUP BY cause
), largest AS (
    SELECT cause, cause_pct FROM parts ORDER BY idle_ns DESC, cause LIMIT 1
), convolved AS (
    SELECT sum(alone_ns / per_rank) FILTER (category = 'conv') AS conv_ns, sum(alone_ns / per_rank) AS with_layout_ns
    FROM totals WHERE is_counted AND category IN ('conv', 'layout_transpose')
), sent AS (
    SELECT sum(step_exposed_ns / per) AS exposed_ns, bool_or(name ILIKE '%nccl%') AS is_nccl
    FROM exchanges WHERE is_counted
)
SELECT if(t.has_steps, upper(n.noun[1]) || n.noun[2:], 'Recording') AS what, t.step_ns, s.cv_pct,
    CAST(t.steps AS BIGINT) AS steps, t.ranks,
    CASE WHEN t.has_steps THEN concat_ws(', ', if(t.ranks > 1, format('mean of {} ranks', t.ranks), NULL),
        CASE WHEN s.cv_pct >= 100 THEN format('steps vary too much for their mean to say much: cv {:.0f} %', s.cv_pct)
            WHEN s.cv_pct < 0.5 THEN 'cv <1 %' ELSE format('cv {:.0f} %', s.cv_pct) END,
        format('{} {}{}{}{}', t.steps, n.guessed, n.noun, if(t.steps = 1, '', 's'), if(t.ranks > 1, ' in all', '')),
        if(h.held_pct < 90 AND e.is_known, format('{:.0f} % of the active time in them', h.held_pct), NULL),
        if(t.n_warmup > 0, format('{} warm-up left out', t.n_warmup), NULL),
        if(m.n > 0, format('{} without device work left out', m.n), NULL), e.many)
        ELSE concat_ws(', ', 'no steps found', if(t.ranks > 1, format('mean of {} ranks', t.ranks), NULL), e.many)
        END AS detail,
    if(EXISTS (FROM totals WHERE kind IN ('kernel', 'copy')), (SELECT upper(kind) FROM accelerator), 'CPU') AS unit,
    if(e.is_known, e.active_pct, NULL) AS active_pct, if(e.is_known, e.idle_pct, NULL) AS idle_pct,
    l.cause, l.cause_pct,
    CASE WHEN e.idle_pct < 0.5 OR l.cause IS NULL THEN '' ELSE if(l.cause_pct >= 50, ', mostly ', ', largest part ')
        || CASE l.cause WHEN 'launch' THEN 'host-bound' WHEN 'data' THEN 'waiting for data'
            WHEN 'allocation' THEN 'allocating memory' WHEN 'graph capture' THEN 'capturing graphs'
            WHEN 'between steps' THEN 'at the edges of steps'
            WHEN 'unknown' THEN 'of unknown cause' || if(e.idle_pct >= 25 AND l.cause_pct >= 50
                AND EXISTS (FROM captures WHERE framework = 'PyTorch')
                AND NOT EXISTS (FROM raw.ranges WHERE kind = 'python'), ' (collect --stacks tells lines)', '')
            ELSE l.cause END END AS mostly,
    if(e.copies_pct >= 1, e.copies_ns, NULL) AS copies_ns, if(e.copies_pct >= 1, e.copies_pct, NULL) AS copies_pct,
    if(c.is_nccl, 'NCCL', 'communication') AS library,
    if(c.exposed_ns > 0 AND e.is_known, c.exposed_ns / t.ranks, NULL) AS exposed_ns,
    100.0 * v.conv_ns / e.step_ns AS conv_pct, if(t.has_steps, 'the step', 'the recording') AS conv_of,
    if(v.with_layout_ns - v.conv_ns > 5e-4 * e.step_ns,
        format(', {:.1f} % with layout conversions', 100.0 * v.with_layout_ns / e.step_ns), '') AS with_layout
-- At most a row each. As plain joins DuckDB would try them in every order, which takes longer than all the rest.
FROM timed t LEFT JOIN every e ON true LEFT JOIN named n ON true LEFT JOIN held h ON true LEFT JOIN empty m ON true
LEFT JOIN convolved v ON true LEFT JOIN spread s ON true LEFT JOIN largest l ON true LEFT JOIN sent c ON true
WHERE t.step_ns > 0 AND e.n_devices > 0
ORDER BY ALL
