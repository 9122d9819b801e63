-- title = "Names of the scenarios"
-- doc = "In their order."
SELECT DISTINCT scenario FROM critical_change ORDER BY scenario
