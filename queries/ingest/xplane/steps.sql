-- title = "XPlane: each step once"
-- doc = """Every device has a line of steps, and the program may have marked them too: the program's count first, then
-- the first device's."""
SELECT * REPLACE (
    CASE WHEN kind = 'step' AND domain IS NOT NULL AND (
            (SELECT bool_or(domain IS NULL) FROM stage.ranges WHERE kind = 'step')
            OR domain <> (SELECT min(domain) FROM stage.ranges WHERE kind = 'step'))
        THEN 'device' ELSE kind END AS kind)
FROM stage.ranges
