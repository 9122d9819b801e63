-- title = "The slices of an export, each on its track, with their texts"
-- doc = "As export_placed, for formats that write texts."
SELECT
    s.*, n.text AS name, r.text AS recorded_category, c.text AS category, a.text AS algorithm, d.text AS direction,
    o.text AS role, y.text AS layer, p.text AS op_name
FROM export_placed s
LEFT JOIN export_text n ON n.iid = s.name_iid
LEFT JOIN export_text r ON r.iid = s.recorded_iid
LEFT JOIN export_text c ON c.iid = s.category_iid
LEFT JOIN export_text a ON a.iid = s.algorithm_iid
LEFT JOIN export_text d ON d.iid = s.direction_iid
LEFT JOIN export_text o ON o.iid = s.role_iid
LEFT JOIN export_text y ON y.iid = s.layer_iid
LEFT JOIN export_text p ON p.iid = s.op_iid
