-- title = "XPlane: each step once"
-- doc = """Every device has a line of steps, and the program may have marked them too: the program's count first.
-- Else a step lasts from the first device's start of it to the last one's end, at most to the next step, and is the
-- first device's row. Of a program's annotations of several names (Keras' `train` and `test`) one is the step: not an
-- evaluation, rather one that trains, then that which holds most time. The others are ranges."""
WITH loop AS (
    SELECT word
    FROM (
        SELECT regexp_replace(name, '\d+', '', 'g') AS word,
            least(dur_ns, lead(start_ns) OVER (ORDER BY start_ns, dur_ns DESC, id) - start_ns) AS own_ns
        FROM stage.ranges WHERE kind = 'step' AND domain IS NULL
    )
    GROUP BY word
    ORDER BY regexp_matches(word, '(?i)(^|[^a-z])(eval|test|val(id|[^a-z])|predict|infer)'),
        word NOT ILIKE '%train%', sum(own_ns) DESC, word
    LIMIT 1
), marked AS (
    SELECT id, name, domain, start_ns, start_ns + dur_ns AS end_ns,
        row_number() OVER (PARTITION BY name, domain ORDER BY start_ns, id) AS turn
    FROM stage.ranges
    WHERE kind = 'step' AND domain IS NOT NULL
        AND NOT EXISTS (FROM stage.ranges WHERE kind = 'step' AND domain IS NULL)
), shared AS (
    SELECT arg_min(id, domain) AS id, min(start_ns) AS start_ns, max(end_ns) AS end_ns FROM marked GROUP BY name, turn
), step AS (
    SELECT id, start_ns, least(end_ns, coalesce(lead(start_ns) OVER (ORDER BY start_ns, id), end_ns)) AS end_ns
    FROM shared
)
SELECT r.* REPLACE (
    CASE WHEN r.kind <> 'step' OR s.id IS NOT NULL THEN r.kind WHEN r.domain IS NOT NULL THEN 'device'
        WHEN regexp_replace(r.name, '\d+', '', 'g') IN (FROM loop) THEN r.kind ELSE 'user' END AS kind,
    coalesce(s.start_ns, r.start_ns) AS start_ns,
    coalesce(s.end_ns - s.start_ns, r.dur_ns) AS dur_ns)
FROM stage.ranges r LEFT JOIN step s ON s.id = r.id
