-- title = "Ranking"
-- doc = """Time over that of the fastest framework under the same conditions: forward pass, forward pass with
-- gradients, and the whole training step. Processes differ by chance too: see the standard deviations."""
-- cannot = "No two frameworks were run under the same conditions."
-- leave_out = ["device", "layout", "batch"]
-- [chart]
-- kind = "bars"
-- label = "what"
-- group = "framework"
-- parts = ["ratio"]
-- [params]
-- accept = { type = "VARCHAR", default = "", doc = "conditions that may differ: threads,layout" }
-- [columns]
-- what = "model and pass"
-- batch = "samples per step"
-- threads = "threads"
-- layout = "of images; both, where the layout may differ"
-- place = "1 is the fastest"
-- framework = "as --frameworks names it"
-- time_ns = "mean over processes"
-- ratio = "time over that of the fastest"
-- device = "cpu or cuda"
WITH equal AS (
    SELECT *, if(list_contains(string_split($accept, ','), 'layout'), 'any', layout) AS side FROM framework_speeds
    WHERE NOT is_published
        AND len(list_filter(differs, lambda name: NOT list_contains(string_split($accept, ','), name))) = 0
), pass AS (
    SELECT framework, model, batch, threads, side, layout, device, unnest([
        {name: 'forward', place: 1, time_ns: forward_ns}, {name: 'forward and gradients', place: 2, time_ns: both_ns},
        {name: 'training step', place: 3, time_ns: training_ns}]) AS pass
    FROM equal
)
SELECT concat(model, ', ', pass.name) AS what, batch, threads, layout,
    rank() OVER same AS place, framework, pass.time_ns AS time_ns,
    pass.time_ns / min(pass.time_ns) OVER (PARTITION BY model, batch, threads, side, device, pass.name) AS ratio, device
FROM pass WHERE pass.time_ns IS NOT NULL
WINDOW same AS (PARTITION BY model, batch, threads, side, device, pass.name ORDER BY pass.time_ns)
QUALIFY count(*) OVER (PARTITION BY model, batch, threads, side, device, pass.name) >= 2
ORDER BY model, batch, threads, device, side, pass.place, time_ns, framework, layout
