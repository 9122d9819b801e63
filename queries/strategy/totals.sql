-- title = "The plan beside every single algorithm"
-- doc = """Sums of the passes of all layers. An algorithm that was not timed for every pass (not admissible, or out of
-- the cap) has no time of its own: beside it stands its sum with the plan's choices in the other passes, which is the
-- least that it could be. The default is what runs where nobody chooses."""
-- cannot = "No timed convolution algorithms to choose from; `traceview study` measures or imports them."
-- leave_out = ["setting"]
-- [params]
-- network = { type = "VARCHAR", default = "", doc = "a network; empty for all" }
-- images = { type = "BIGINT", default = 0, doc = "a batch; 0 for all" }
-- cap_bytes = { type = "BIGINT", default = -1, doc = "workspace that any pass may use; -1 for no cap" }
-- [columns]
-- network = "network, in lower case"
-- batch = "images"
-- strategy = "the plan, the default, or one algorithm everywhere"
-- passes = "passes that it has a time for, of those that the network has"
-- total_ns = "sum, where it has a time for all of them"
-- times_as_fast = "the sum over the plan's: how many times as fast the plan is"
-- filled_ns = "sum with the plan's choices where it has no time"
-- least_times = "that over the plan's: a lower limit of how many times as fast the plan is"
-- setting = "device, threads and type"
-- [headings]
-- times_as_fast = "plan is times as fast"
-- filled_ns = "with the plan elsewhere"
-- least_times = "at least"
WITH option AS (
    SELECT *, coalesce(setting, '') AS held_by FROM plan_options
    WHERE ($network = '' OR network = lower($network)) AND ($images = 0 OR batch = $images)
), pass AS (
    SELECT held_by, network, batch, layer, pass,
        min(time_ns) FILTER (if($cap_bytes < 0, is_fastest,
            from_bytes <= $cap_bytes AND coalesce($cap_bytes < below_bytes, true))) AS plan_ns
    FROM option GROUP BY ALL
), whole AS (
    SELECT held_by, network, batch, count(*) AS n, count(plan_ns) AS n_planned, sum(plan_ns) AS plan_ns FROM pass
    GROUP BY ALL
), fitting AS (
    FROM option WHERE $cap_bytes < 0 OR memory_bytes <= $cap_bytes OR memory_bytes IS NULL
), rival AS (
    SELECT held_by, network, batch, layer, pass, contender AS strategy, min(time_ns) AS time_ns FROM fitting
    WHERE NOT contains(contender, ' + ') GROUP BY ALL
    UNION ALL
    SELECT held_by, network, batch, layer, pass, 'the default: ' || string_agg(DISTINCT ran, ', ' ORDER BY ran),
        min(time_ns)
    FROM option WHERE is_default GROUP BY ALL
), told AS (
    SELECT r.held_by, r.network, r.batch, r.strategy, count(*) AS n,
        sum(r.time_ns) AS told_ns, any_value(w.n) AS of_n, any_value(w.n_planned) AS n_planned,
        any_value(w.plan_ns) AS plan_ns, any_value(w.plan_ns) + sum(r.time_ns - p.plan_ns) AS filled_ns
    FROM rival r JOIN whole w ON w.held_by = r.held_by AND w.network = r.network
        AND w.batch IS NOT DISTINCT FROM r.batch
    JOIN pass p ON p.held_by = r.held_by AND p.network = r.network AND p.batch IS NOT DISTINCT FROM r.batch
        AND p.layer = r.layer AND p.pass = r.pass
    GROUP BY r.held_by, r.network, r.batch, r.strategy
), line AS (
    SELECT held_by, network, batch, 'the plan' AS strategy, format('{} of {}', n_planned, n) AS passes,
        if(n = n_planned, plan_ns, NULL) AS total_ns, if(n = n_planned, 1.0, NULL) AS times_as_fast,
        plan_ns AS filled_ns, NULL AS least_times, 0 AS place
    FROM whole
    UNION ALL
    SELECT held_by, network, batch, strategy, format('{} of {}', n, of_n),
        if(n = of_n AND of_n = n_planned, told_ns, NULL), if(n = of_n AND of_n = n_planned, told_ns / plan_ns, NULL),
        if(of_n = n_planned, filled_ns, NULL), if(of_n = n_planned AND n < of_n, filled_ns / plan_ns, NULL),
        if(starts_with(strategy, 'the default'), 1, 2)
    FROM told
)
SELECT network, batch, strategy, passes, CAST(total_ns AS BIGINT) AS total_ns, times_as_fast,
    CAST(filled_ns AS BIGINT) AS filled_ns, least_times, held_by AS setting
FROM line
-- With one way to compute everything there is nothing to choose.
WHERE (held_by, network, coalesce(batch, 0)) IN (SELECT (held_by, network, coalesce(batch, 0)) FROM option
    WHERE ways > 1)
ORDER BY network, held_by, batch, place, total_ns NULLS LAST, filled_ns, strategy
