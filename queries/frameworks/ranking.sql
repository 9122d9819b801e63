-- title = "Ranking"
-- doc = """Time over that of the fastest framework under the same conditions: forward pass, forward pass with
-- gradients, and the whole training step. Processes differ by chance too: see the standard deviations."""
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
WITH equal AS (
    SELECT *, list_contains(string_split($accept, ','), 'layout') AS is_any FROM framework_speeds
    WHERE NOT is_published
        AND len(list_filter(differs, lambda name: NOT list_contains(string_split($accept, ','), name))) = 0
), pass AS (
    SELECT if(is_any, concat_ws(' ', framework, layout), framework) AS framework, model, batch, threads, device,
        if(is_any, NULL, layout) AS layout, unnest([
        {name: 'forward pass', place: 1, time_ns: forward_ns},
        {name: 'forward pass and gradients', place: 2, time_ns: both_ns},
        {name: 'training step', place: 3, time_ns: training_ns}]) AS pass
    FROM equal
), named AS (
    SELECT concat_ws(', ', model || ' ' || pass.name, 'batch ' || batch,
        threads || if(threads = 1, ' thread', ' threads'), layout, nullif(device, 'cpu')) AS what, *
    FROM pass WHERE pass.time_ns IS NOT NULL
)
SELECT what, rank() OVER (PARTITION BY what ORDER BY pass.time_ns) AS place, framework, pass.time_ns AS time_ns,
    pass.time_ns / nullif(min(pass.time_ns) OVER (PARTITION BY what), 0) AS ratio
FROM named
QUALIFY count(*) OVER (PARTITION BY what) >= 2
ORDER BY model, batch, threads, device, layout, named.pass.place, named.pass.time_ns, framework
