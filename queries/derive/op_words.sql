-- title = "The different names of operators, numbered from 0"
-- doc = "They are few, so that what a name means is worked out once."
SELECT name, row_number() OVER (ORDER BY name) - 1 AS number FROM (SELECT DISTINCT name FROM stage.ops)
