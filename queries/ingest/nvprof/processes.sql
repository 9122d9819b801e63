-- title = "nvprof: the processes that called CUDA"
-- doc = "The one with the most calls first: it is the rank's."
SELECT pid FROM stage.api_calls GROUP BY pid ORDER BY count(*) DESC, pid
