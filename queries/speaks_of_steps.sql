-- title = "Whether texts may speak of steps"
-- doc = "One row if the scope has steps, and for results of an experiment, which hold no recording."
-- [columns]
-- says = "1, or no row"
SELECT 1 AS says FROM scope WHERE has_steps
UNION
SELECT 1 FROM captures WHERE format = 'experiment'
ORDER BY says
