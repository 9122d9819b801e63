-- title = "Step time"
-- doc = """Welch's t-test on the step times, two-sided at 5 %: a difference is larger than the noise where its 95 %
-- interval leaves out zero. With fewer than five steps the interval is wide. Steps of one run follow each other and
-- other runs may differ more than steps do: capture twice where it is close."""
-- cannot = "There is no run."
-- bar = "step_ns"
-- [columns]
-- run = "run"
-- place = "1 is the fastest; only among runs that may be ranked with A"
-- step_ns = "mean step time, or the whole recording"
-- sd_ns = "standard deviation (sample)"
-- steps = "steps"
-- diff_ns = "difference from A"
-- low_ns = "lower end of its 95 % interval"
-- high_ns = "upper end of its 95 % interval"
-- ratio = "step time over A's"
-- speedup = "A's step time over this one's"
-- degrees = "degrees of freedom by Welch and Satterthwaite"
-- verdict = "whether the difference is larger than the noise, and why not where it cannot be told"
WITH critical AS (
    -- Student's t, 97.5 %; between two lines the one with fewer degrees of freedom counts, which is the careful side.
    SELECT * FROM (VALUES (1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (5, 2.571), (6, 2.447), (7, 2.365),
        (8, 2.306), (9, 2.262),
        (10, 2.228), (11, 2.201), (12, 2.179), (13, 2.160), (14, 2.145), (15, 2.131), (16, 2.120),
        (17, 2.110), (18, 2.101),
        (19, 2.093), (20, 2.086), (25, 2.060), (30, 2.042), (40, 2.021), (60, 2.000), (120, 1.980),
        (100000, 1.960)) t(df, t)
), spread AS (
    SELECT r.run, r.has_steps AND b.has_steps AS has_steps, r.steps, b.steps AS base_steps, r.step_ns, r.sd_ns,
        p.diff_ns, p.differing, p.unchecked,
        r.sd_ns * r.sd_ns / r.steps AS v, b.sd_ns * b.sd_ns / b.steps AS base_v, b.step_ns AS base_ns
    FROM run r JOIN run b ON b.run = 0 LEFT JOIN pair p ON p.run = r.run
), freed AS (
    SELECT *, has_steps AND steps > 1 AND base_steps > 1 AND run > 0 AND v IS NOT NULL
        AND base_v IS NOT NULL AS is_testable, sqrt(v + base_v) AS error_ns,
        CASE WHEN v + base_v = 0 THEN steps + base_steps - 2
            ELSE (v + base_v) ** 2 / (v ** 2 / (steps - 1) + base_v ** 2 / (base_steps - 1)) END AS df
    FROM (SELECT * REPLACE (if(steps > 1, v, NULL) AS v, if(base_steps > 1, base_v, NULL) AS base_v) FROM spread)
), tested AS (
    SELECT f.*, if(is_testable, (SELECT max_by(t, df) FROM critical c WHERE c.df <= greatest(f.df, 1) + 1e-9),
        NULL) AS t FROM freed f
)
SELECT chr(CAST(65 + run AS INTEGER)) AS run,
    CASE WHEN has_steps AND coalesce(differing, '') = '' THEN
        CAST(rank() OVER (PARTITION BY has_steps AND coalesce(differing, '') = ''
            ORDER BY step_ns) AS BIGINT) END AS place,
    step_ns, sd_ns, steps, diff_ns, diff_ns - t * error_ns AS low_ns, diff_ns + t * error_ns AS high_ns,
    step_ns / nullif(base_ns, 0) AS ratio, base_ns / nullif(step_ns, 0) AS speedup, if(t IS NULL, NULL, df) AS degrees,
    CASE WHEN run = 0 THEN 'compared with' WHEN NOT has_steps THEN 'no steps: whole recordings are compared, not ranked'
        WHEN differing <> '' THEN 'not ranked: ' || differing || if(contains(differing, ','), ' differ', ' differs')
        ELSE CASE WHEN t IS NULL THEN 'cannot tell from noise: '
                || if(least(steps, base_steps) > 1, 'a log gives no deviation', 'fewer than two steps')
            ELSE if(abs(diff_ns) > t * error_ns, 'larger than the noise', 'within the noise')
                || if(least(steps, base_steps) < 5, ' (few steps)', '') END
            || if(unchecked <> '', '; not checked: ' || unchecked, '')
    END AS verdict
FROM tested
ORDER BY tested.run
