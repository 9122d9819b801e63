-- title = "Ranking"
-- doc = """Time over that of the fastest framework under the same conditions: forward pass, forward pass with
-- gradients, and the whole training step. Processes differ by chance too: the difference of every two is held against
-- their standard deviations (95 %, Student's t with the fewer processes of the two). One process has no place, and
-- neither have those most of which shared the machine with other programs: times depend on those then."""
-- cannot = "No two frameworks were run under the same conditions."
-- leave_out = ["alike", "sd_ns"]
-- [chart]
-- kind = "bars"
-- label = "what"
-- group = "framework"
-- parts = ["ratio"]
-- [params]
-- accept = { type = "VARCHAR", default = "", doc = "conditions that may differ: threads,layout" }
-- [columns]
-- what = "model, pass and conditions"
-- place = "1 is the fastest; none for a single process, and for processes most of which shared the machine"
-- framework = "as --frameworks names it; with its version where several were measured, and a layout that may differ"
-- time_ns = "mean over processes"
-- ratio = "time over that of the first"
-- sd_ns = "standard deviation over processes"
-- verdict = """fastest: told apart from all others, else least time; slower (than the first, beyond the noise), no
-- difference seen; cannot tell: a single process, or machine busy, which is during most processes"""
-- alike = "others from which it is not told apart; from all that are not named here it is"
-- [headings]
-- alike = "not told apart"
WITH equal AS (
    SELECT *, list_contains(string_split($accept, ','), 'layout') AS is_any FROM framework_speeds
    WHERE NOT is_published
        AND len(list_filter(differs, lambda name: NOT list_contains(string_split($accept, ','), name))) = 0
), pass AS (
    SELECT if(is_any, concat_ws(' ', label, layout), label) AS framework, model, batch, threads, device, n,
        busy, if(is_any, NULL, layout) AS layout, unnest([
        {name: 'forward pass', place: 1, time_ns: forward_ns, sd_ns: forward_sd_ns},
        {name: 'forward pass and gradients', place: 2, time_ns: both_ns, sd_ns: both_sd_ns},
        {name: 'training step', place: 3, time_ns: training_ns, sd_ns: training_sd_ns}]) AS pass
    FROM equal
), named AS (
    SELECT concat_ws(', ', model || ' ' || pass.name, 'batch ' || batch,
        threads || if(threads = 1, ' thread', ' threads'), layout, nullif(device, 'cpu')) AS what, *
    FROM pass WHERE pass.time_ns IS NOT NULL
), told AS (
    SELECT *, CASE WHEN n < 2 OR pass.sd_ns IS NULL THEN 'cannot tell: one process'
        WHEN 2 * busy > n THEN 'cannot tell: machine busy' END AS doubt
    FROM named
), placed AS (
    SELECT *, if(doubt IS NULL, rank() OVER race, NULL) AS place, first(framework) OVER race AS best,
        min(if(doubt IS NULL, pass.time_ns, NULL)) OVER (PARTITION BY what) AS best_ns,
        count(*) OVER (PARTITION BY what) AS racers
    FROM told WINDOW race AS (PARTITION BY what ORDER BY doubt IS NOT NULL, pass.time_ns)
), pairs AS (
    -- Quantiles of Student's t for 1 to 10 degrees of freedom; with more it is no larger than the last.
    SELECT a.what, a.framework, b.framework AS other,
        CASE WHEN a.doubt IS NOT NULL OR b.doubt IS NOT NULL THEN 'cannot tell'
            WHEN abs(a.pass.time_ns - b.pass.time_ns)
                > [12.71, 4.31, 3.19, 2.78, 2.58, 2.45, 2.37, 2.31, 2.27, 2.23][least(a.n, b.n, 11) - 1]
                * sqrt(a.pass.sd_ns ** 2 / a.n + b.pass.sd_ns ** 2 / b.n) THEN 'slower'
            ELSE 'no difference seen' END AS verdict
    FROM placed a JOIN placed b ON b.what = a.what AND b.framework <> a.framework
), judged AS (
    SELECT what, framework, nullif(concat_ws('; ',
        'no difference from ' || string_agg(other, ', ' ORDER BY other) FILTER (verdict = 'no difference seen'),
        'cannot tell from ' || string_agg(other, ', ' ORDER BY other) FILTER (verdict = 'cannot tell')), '') AS alike
    FROM pairs GROUP BY what, framework
)
SELECT p.what, p.place, p.framework, p.pass.time_ns AS time_ns, p.pass.time_ns / nullif(p.best_ns, 0) AS ratio,
    p.pass.sd_ns AS sd_ns, coalesce(p.doubt, v.verdict, if(j.alike IS NULL, 'fastest', 'least time')) AS verdict,
    j.alike
FROM placed p
LEFT JOIN judged j ON j.what = p.what AND j.framework = p.framework
LEFT JOIN pairs v ON v.what = p.what AND v.framework = p.framework AND v.other = p.best
WHERE p.racers >= 2
ORDER BY p.model, p.batch, p.threads, p.device, p.layout, p.pass.place, p.place NULLS LAST,
    p.pass.time_ns, p.framework
