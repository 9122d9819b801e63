-- title = "The names of a level's stacks"
-- doc = "One row per stack that is new at this level; at most the innermost 100 names, outermost first."
WITH level AS (
    SELECT DISTINCT stack, above, frame FROM stack_level
)
SELECT l.stack, any_value(list_append(coalesce(s.frames, []), l.frame)[-100:]) AS frames
FROM level l LEFT JOIN stacks s ON s.stack = l.above
GROUP BY l.stack
