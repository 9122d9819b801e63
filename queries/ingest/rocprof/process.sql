-- title = "rocprof: the process"
-- doc = "The one that made most calls."
SELECT pid FROM stage.api_calls WHERE pid IS NOT NULL GROUP BY pid ORDER BY count(*) DESC, pid LIMIT 1
