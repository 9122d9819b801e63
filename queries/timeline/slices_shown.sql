-- title = "Slices of a page's timeline"
-- doc = "By track and start; of more than a page holds, the longest. Texts are numbers of export_text."
-- [params]
-- most = { type = "BIGINT", default = 1000000, doc = "slices at most" }
-- [columns]
-- tid = "the track"
WITH longest AS (
    SELECT number FROM export_slice ORDER BY end_ns - start_ns DESC, number LIMIT $most
)
SELECT s.tid, s.at_ns AS start_ns, s.dur_ns, s.name_iid AS name, coalesce(s.category_iid, s.recorded_iid) AS category,
    s.algorithm_iid AS algorithm, s.direction_iid AS direction, s.layer_iid AS layer, s.op_iid AS op, s.step
FROM export_placed s
SEMI JOIN longest l ON l.number = s.number
ORDER BY s.tid, s.number
