-- title = "Capture of a graph: modules and Python frames, for a trace of its replays"
-- doc = "On threads and at times of their own."
-- [params]
-- first = { type = "BIGINT", doc = "what is added to ids" }
-- shift = { type = "BIGINT", doc = "what is added to times" }
-- thread = { type = "BIGINT", doc = "what is added to threads" }
SELECT * REPLACE (id + $first AS id, start_ns + $shift AS start_ns, tid + $thread AS tid)
FROM stage.ranges WHERE kind IN ('module', 'python')
