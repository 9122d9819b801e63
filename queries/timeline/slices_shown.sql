-- title = "Slices of a page's timeline"
-- doc = "By track and start; of more than a page holds, the longest. Texts are numbers of export_text."
-- [params]
-- most = { type = "BIGINT", default = 1000000, doc = "slices at most" }
-- [columns]
-- tid = "the track"
-- detail = "number in export_detail"
-- launch = "place among these rows, from 1, of the call that launched it"
-- partner = "place of the forward operator of a backward one"
WITH longest AS (
    SELECT number FROM export_slice ORDER BY end_ns - start_ns DESC, number LIMIT $most
), shown AS (
    SELECT s.*, row_number() OVER (ORDER BY s.tid, s.number) AS place
    FROM export_placed s SEMI JOIN longest l ON l.number = s.number
), launched AS (
    SELECT s.place, any_value(c.place) AS call
    FROM shown s
    JOIN (
        SELECT 'kernel' AS kind, id, launch_id FROM raw.kernels
        UNION ALL SELECT 'copy', id, launch_id FROM raw.memcpys
    ) w ON w.kind = s.kind AND w.id = s.id
    JOIN shown c ON c.kind = 'api_call' AND c.id = w.launch_id
    GROUP BY s.place
), paired AS (
    SELECT s.place, any_value(f.place) AS forward
    FROM shown s JOIN raw.ops o ON s.kind = 'op' AND o.id = s.id AND o.is_backward
    JOIN shown f ON f.kind = 'op' AND f.id = o.forward_id
    GROUP BY s.place
)
SELECT s.tid, s.at_ns AS start_ns, s.dur_ns, s.name_iid AS name, coalesce(s.category_iid, s.recorded_iid) AS category,
    s.algorithm_iid AS algorithm, s.direction_iid AS direction, s.layer_iid AS layer, s.op_iid AS op,
    d.iid AS detail, l.call AS launch, p.forward AS partner, s.step
FROM shown s
LEFT JOIN launched l ON l.place = s.place
LEFT JOIN paired p ON p.place = s.place
LEFT JOIN export_detail d ON d.number = s.number
ORDER BY s.place
