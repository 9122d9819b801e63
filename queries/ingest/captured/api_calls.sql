-- title = "Capture of a graph: calls of the runtime, for a trace of its replays"
-- doc = "On threads and at times of their own, without what joins them to rows of their trace."
-- [params]
-- first = { type = "BIGINT", doc = "what is added to ids" }
-- shift = { type = "BIGINT", doc = "what is added to times" }
-- thread = { type = "BIGINT", doc = "what is added to threads" }
SELECT * REPLACE (id + $first AS id, start_ns + $shift AS start_ns, tid + $thread AS tid,
    CAST(NULL AS BIGINT) AS external_id, CAST(NULL AS BIGINT) AS correlation)
FROM stage.api_calls
