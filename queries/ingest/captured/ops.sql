-- title = "Capture of a graph: its operators, for a trace of its replays"
-- doc = "On threads and at times of their own; what joins rows of their trace is left out."
-- [params]
-- first = { type = "BIGINT", doc = "what is added to ids" }
-- shift = { type = "BIGINT", doc = "what is added to times" }
-- thread = { type = "BIGINT", doc = "what is added to threads" }
SELECT * REPLACE (id + $first AS id, start_ns + $shift AS start_ns, tid + $thread AS tid,
    CAST(NULL AS BIGINT) AS external_id, CAST(NULL AS BIGINT) AS sequence, CAST(NULL AS BIGINT) AS forward_thread)
FROM stage.ops
