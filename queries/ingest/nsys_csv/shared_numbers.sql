-- title = "Calls of several processes with one number launch nothing that can be told"
-- doc = "Kernels are listed without their process, and processes count their calls each from its own beginning."
UPDATE stage.api_calls SET correlation = NULL WHERE correlation IN (
    SELECT correlation FROM stage.api_calls GROUP BY correlation HAVING count(DISTINCT pid) > 1)
