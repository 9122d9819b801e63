-- title = "Slices of a page's timeline"
-- doc = "By track and start; of more than a page holds, the longest. Texts are numbers of export_text."
-- [params]
-- most = { type = "BIGINT", default = 1000000, doc = "slices at most" }
-- [columns]
-- tid = "the track"
WITH longest AS (
    SELECT number FROM export_slice ORDER BY end_ns - start_ns DESC, number LIMIT $most
)
SELECT s.tid, s.at_ns AS start_ns, s.dur_ns, n.iid AS name, c.iid AS category, a.iid AS algorithm, d.iid AS direction,
    y.iid AS layer, p.iid AS op, s.step
FROM export_placed s
SEMI JOIN longest l ON l.number = s.number
LEFT JOIN export_text n ON n.text = s.name
LEFT JOIN export_text c ON c.text = coalesce(s.category, s.recorded_category)
LEFT JOIN export_text a ON a.text = s.algorithm
LEFT JOIN export_text d ON d.text = s.direction
LEFT JOIN export_text y ON y.text = s.layer
LEFT JOIN export_text p ON p.text = s.op_name
ORDER BY s.tid, s.number
