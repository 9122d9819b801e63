-- title = "Step time"
-- doc = """A difference is larger than the noise where its interval leaves out a ratio of 1. With several recordings
-- per side: Hodges-Lehmann estimate on the logarithms of their mean steps, interval by Mann-Whitney. With one
-- recording each: ratio of the mean steps, interval by a block bootstrap over steps; other recordings may differ more
-- than steps do. With fewer than five steps the interval is wide."""
-- cannot = "There is no run."
-- bar = "step_ns"
-- first = 16
-- without = ["place", "sd_ns", "steps", "diff_ns", "speedup"]
-- leave_out = ["speedup", "sd_ns", "steps", "place", "diff_ns"]
-- [columns]
-- run = "run"
-- place = "1 is the fastest; only among runs that may be ranked with A"
-- step_ns = "mean step time, or the whole recording; of several recordings that of the middle one"
-- sd_ns = "standard deviation of its steps (sample)"
-- steps = "steps"
-- diff_ns = "difference from A"
-- ratio = "step time over A's"
-- low = "lower end of its interval"
-- high = "upper end of its interval"
-- speedup = "A's step time over this one's"
-- verdict = "whether the difference is larger than the noise; where there is not enough data, why"
WITH spread AS (
    SELECT r.run, r.has_steps AND b.has_steps AS has_steps, r.steps, b.steps AS base_steps, r.step_ns, r.sd_ns,
        p.diff_ns, p.differing, p.unchecked, p.is_busy, coalesce(p.is_ranked, true) AS is_ranked, b.step_ns AS base_ns,
        e.low, e.high, e.confidence_pct, e.recordings AS n_both,
        if(r.run = 0, r.step_ns / nullif(b.step_ns, 0), p.ratio) AS ratio,
        (SELECT format('the machine was busy while {} {} recorded', string_agg(chr(CAST(65 + m.run AS INTEGER)), ', '
            ORDER BY m.run), if(count(*) = 1, 'was', 'were')) FROM machine m
            WHERE m.run IN (0, r.run) AND m.is_busy) AS busy
    FROM run r JOIN run b ON b.run = 0 LEFT JOIN pair p ON p.run = r.run LEFT JOIN estimate e ON e.run = r.run
)
SELECT chr(CAST(65 + run AS INTEGER)) AS run,
    CASE WHEN has_steps AND is_ranked THEN
        CAST(rank() OVER (PARTITION BY has_steps AND is_ranked ORDER BY ratio) AS BIGINT) END AS place,
    step_ns, sd_ns, steps, diff_ns, ratio, low, high, 1 / nullif(ratio, 0) AS speedup,
    CASE WHEN run = 0 THEN 'baseline' WHEN NOT has_steps THEN 'no steps: whole recordings are compared, not ranked'
        WHEN differing <> '' THEN 'not ranked: ' || differing || if(contains(differing, ','), ' differ', ' differs')
        WHEN NOT is_ranked THEN 'not ranked: nothing tells that both ran the same model'
        ELSE CASE WHEN low IS NULL THEN 'cannot tell from noise: '
                || CASE WHEN ratio IS NULL THEN 'no time to compare'
                    WHEN least(steps, base_steps) > 1 THEN 'a log gives no deviation' ELSE 'fewer than two steps' END
            WHEN is_busy THEN 'cannot tell from noise: ' || busy
            WHEN confidence_pct < 90 THEN 'cannot tell from noise: too few recordings'
            ELSE if(low > 1 OR high < 1, 'larger than the noise', 'within the noise')
                || if(n_both = 2 AND least(steps, base_steps) < 5, ' (few steps)', '')
                || coalesce('; ' || busy, '') END
            || if(unchecked <> '', '; not checked: ' || unchecked, '')
    END AS verdict
FROM spread
ORDER BY spread.run
