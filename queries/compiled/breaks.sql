-- title = "Graph breaks"
-- doc = "One row per place and reason, the most frequent first: how often a graph ended there while code was compiled."
-- cannot = """No graph break is recorded: `traceview collect` notes them, a trace alone does not."""
-- leave_out = ["rank"]
-- [columns]
-- rank = "process of the job"
-- place = "file, line and function"
-- breaks = "times that a graph ended there"
-- reason = "what Dynamo says"
SELECT rank, coalesce(format('{}({}): {}', file, line, function), '(not recorded)') AS place, n AS breaks,
    coalesce(reason, 'not recorded') AS reason
FROM graph_breaks
ORDER BY n DESC, rank, place, reason
