-- title = "Ranking"
-- doc = """Time over that of the fastest framework under the same conditions: forward pass, forward pass with
-- gradients, and the whole training step. Processes differ by chance too: the verdict holds the difference from the
-- fastest against their standard deviations (95 %, Student's t with the fewer processes of the two)."""
-- cannot = "No two frameworks were run under the same conditions."
-- [chart]
-- kind = "bars"
-- label = "what"
-- group = "framework"
-- parts = ["ratio"]
-- [params]
-- accept = { type = "VARCHAR", default = "", doc = "conditions that may differ: threads,layout" }
-- [columns]
-- what = "model, pass and conditions"
-- place = "1 is the fastest"
-- framework = "as --frameworks names it; with its layout, where that may differ"
-- time_ns = "mean over processes"
-- ratio = "time over that of the fastest"
-- sd_ns = "standard deviation over processes"
-- verdict = """fastest; slower (than the fastest, beyond the noise), no difference seen, or cannot tell: fewer than two
-- processes of one of the two"""
WITH equal AS (
    SELECT *, list_contains(string_split($accept, ','), 'layout') AS is_any FROM framework_speeds
    WHERE NOT is_published
        AND len(list_filter(differs, lambda name: NOT list_contains(string_split($accept, ','), name))) = 0
), pass AS (
    SELECT if(is_any, concat_ws(' ', framework, layout), framework) AS framework, model, batch, threads, device, n,
        if(is_any, NULL, layout) AS layout, unnest([
        {name: 'forward pass', place: 1, time_ns: forward_ns, sd_ns: forward_sd_ns},
        {name: 'forward pass and gradients', place: 2, time_ns: both_ns, sd_ns: both_sd_ns},
        {name: 'training step', place: 3, time_ns: training_ns, sd_ns: training_sd_ns}]) AS pass
    FROM equal
), named AS (
    SELECT concat_ws(', ', model || ' ' || pass.name, 'batch ' || batch,
        threads || if(threads = 1, ' thread', ' threads'), layout, nullif(device, 'cpu')) AS what, *
    FROM pass WHERE pass.time_ns IS NOT NULL
), placed AS (
    SELECT *, rank() OVER race AS place, first(n) OVER race AS best_n, first(pass.time_ns) OVER race AS best_ns,
        first(pass.sd_ns) OVER race AS best_sd_ns, count(*) OVER (PARTITION BY what) AS racers
    FROM named WINDOW race AS (PARTITION BY what ORDER BY pass.time_ns)
), judged AS (
    -- Quantiles of Student's t for 1 to 10 degrees of freedom; with more it is no larger than the last.
    SELECT *, [12.71, 4.31, 3.19, 2.78, 2.58, 2.45, 2.37, 2.31, 2.27, 2.23][greatest(1, least(n, best_n, 11) - 1)]
        * sqrt(pass.sd_ns ** 2 / n + best_sd_ns ** 2 / best_n) AS least_ns
    FROM placed
)
SELECT what, place, framework, pass.time_ns AS time_ns, pass.time_ns / nullif(best_ns, 0) AS ratio,
    pass.sd_ns AS sd_ns,
    CASE WHEN place = 1 THEN 'fastest' WHEN least(n, best_n) < 2 OR least_ns IS NULL THEN 'cannot tell'
        WHEN pass.time_ns - best_ns > least_ns THEN 'slower' ELSE 'no difference seen' END AS verdict
FROM judged
WHERE racers >= 2
ORDER BY model, batch, threads, device, layout, judged.pass.place, judged.pass.time_ns, framework
