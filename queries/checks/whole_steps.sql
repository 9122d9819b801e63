-- doc = "Ranks whose devices were busy in the steps that count for another time than the activities there add up to."
-- [columns]
-- steps_ns = "busy time of these steps"
-- activities_ns = "time of activities in them, each moment once"
WITH counted AS (
    SELECT rank, sum(busy_ns) AS steps_ns FROM steps WHERE NOT is_warmup GROUP BY rank
), activity AS (
    SELECT rank, sum(step_rank_alone_ns) AS activities_ns FROM busy GROUP BY rank
)
SELECT rank, steps_ns, activities_ns
FROM counted JOIN activity USING (rank)
WHERE steps_ns IS DISTINCT FROM activities_ns
ORDER BY rank
