-- title = "By threads"
-- doc = """Frameworks that were run with several numbers of threads, version and all else equal: time, and how
-- many times as fast as with the fewest."""
-- cannot = "No framework was run in one version with two numbers of threads: --threads 1,2."
-- leave_out = ["device", "layout", "batch"]
-- [chart]
-- kind = "curves"
-- panel = ["what"]
-- x = "threads"
-- y = "time_ns"
-- line = "framework"
-- [columns]
-- what = "model and pass"
-- framework = "as --frameworks names it, with its version where several were measured"
-- threads = "threads that it uses"
-- time_ns = "mean over processes"
-- speedup = "time with the fewest threads over this"
-- efficiency_pct = "speed-up over how many times as many threads"
-- doubt = "why the speed-up tells nothing: of these times, or of those with the fewest threads"
-- batch = "samples per step"
-- layout = "of images"
-- device = "cpu or cuda"
-- [headings]
-- efficiency_pct = "of threads' ideal"
WITH pass AS (
    SELECT label AS framework, model, batch, threads, layout, device, CASE WHEN n < 2 THEN 'cannot tell: one process'
        WHEN 2 * busy > n THEN 'cannot tell: machine busy' END AS doubt, unnest([
        {name: 'forward pass', place: 1, time_ns: forward_ns},
        {name: 'training step', place: 2, time_ns: training_ns}]) AS pass
    FROM framework_speeds WHERE NOT is_published AND len(differs) = 0
), timed AS (
    SELECT *, first_value(threads) OVER same AS least, first_value(pass.time_ns) OVER same / nullif(pass.time_ns, 0)
        AS speedup, first_value(doubt) OVER same AS least_doubt
    FROM pass WHERE pass.time_ns IS NOT NULL
    WINDOW same AS (PARTITION BY framework, model, batch, layout, device, pass.name ORDER BY threads)
)
SELECT concat(model, ' ', pass.name) AS what, framework, threads, pass.time_ns AS time_ns, speedup,
    100.0 * speedup * least / nullif(threads, 0) AS efficiency_pct,
    coalesce(doubt, least_doubt) AS doubt, batch, layout, device
FROM timed
QUALIFY count(*) OVER (PARTITION BY framework, model, batch, layout, device, pass.name) >= 2
ORDER BY model, timed.pass.place, batch, layout, device, framework, threads
