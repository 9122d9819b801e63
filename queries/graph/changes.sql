-- title = "What the scenarios change, as numbers"
-- doc = "The place of the scenario among their names, the task, and what stays of it in percent."
SELECT dense_rank() OVER (ORDER BY scenario) - 1 AS scenario, number, stays_pct FROM critical_change
ORDER BY scenario, number
