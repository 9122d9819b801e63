-- doc = "Settings of which a run records another value than A, and those that only one of the two records."
-- [columns]
-- run = "number of the run"
-- place = "the lower, the sooner it explains a difference; NULL where it explains none"
WITH kinds AS (
    FROM (VALUES ('option', 0), ('device', 1), ('threads', 2), ('precision', 3), ('layout', 4), ('batch', 5),
        ('data', 6), ('flag', 7), ('version', 8), ('environment', 9), ('job', NULL),
        ('recording', NULL), ('command', NULL), ('model', NULL))
        k(kind, place)
), side AS (
    SELECT r.run, s.kind, s.name, any_value(s.value) FILTER (s.run = 0) AS base_value,
        any_value(s.value) FILTER (s.run > 0) AS value
    FROM run r JOIN setting s ON s.run IN (0, r.run)
    WHERE r.run > 0 AND r.run IN (SELECT run FROM setting WHERE name = 'noted by')
        AND EXISTS (FROM setting WHERE run = 0 AND name = 'noted by')
    GROUP BY ALL
    UNION ALL
    -- A trace from elsewhere records only these; what it does not record does not differ.
    SELECT s.run, s.kind, s.name, b.value, s.value FROM setting s JOIN setting b USING (kind, name)
    WHERE b.run = 0 AND s.run > 0 AND (s.run NOT IN (SELECT run FROM setting WHERE name = 'noted by')
        OR NOT EXISTS (FROM setting WHERE run = 0 AND name = 'noted by'))
)
SELECT s.run, s.kind, s.name, s.base_value, s.value,
    if(s.name = 'number of parameters', 5, k.place) AS place,
    format('{} {} -> {}', s.name, left(coalesce(s.base_value, 'not set'), 40), left(coalesce(s.value, 'not set'), 40))
        AS text
FROM side s JOIN kinds k USING (kind)
WHERE s.base_value IS DISTINCT FROM s.value
ORDER BY s.run, place NULLS LAST, s.kind, s.name
